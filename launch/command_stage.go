package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/workflow"
)

// workflowFiles keeps in the run's folder what a workflow of one's own has brought.
const workflowFiles = "workflow_files.json"

// stage is where a command works: a folder laid out like the run's, with the inputs that
// its node declares and nothing else. What it does there is looked at before anything of it
// becomes the run's.
type stage struct {
	dir    string                 // program/ and folder/
	inputs map[string]fingerprint // files that were put there, by their path in folder/
}

// fingerprint tells whether a file was written to.
type fingerprint struct {
	size int64
	at   time.Time
}

func (s *stage) folder() string { return filepath.Join(s.dir, "folder") }

func (s *stage) remove() { _ = os.RemoveAll(s.dir) } // what stays is removed by the next attempt

// stage prepares the folder for the job's command. What an attempt has left that was
// interrupted goes.
func (j *job) stage(ctx context.Context) (*stage, error) {
	all := filepath.Join(j.try.Dir, "work", "nodes", j.work.Node.Name)
	if err := os.RemoveAll(all); err != nil {
		return nil, err
	}
	// A name of its own: what a driver that was killed has started may not be gone yet.
	s := &stage{dir: filepath.Join(all, strings.ToLower(rand.Text())), inputs: map[string]fingerprint{}}
	for _, dir := range []string{"program", "folder/artifacts", "folder/drafts", "folder/reports"} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(j.unpackProgram(s), j.copyInputs(ctx, s)); err != nil {
		s.remove()
		return nil, err
	}
	return s, s.walk(func(name string, info fs.FileInfo) error {
		s.inputs[name] = fingerprint{info.Size(), info.ModTime()}
		return nil
	})
}

// unpackProgram writes the files that the workflow has brought.
func (j *job) unpackProgram(s *stage) error {
	raw, err := os.ReadFile(filepath.Join(j.try.Dir, workflowFiles))
	if err != nil {
		return err
	}
	var files map[string][]byte
	if err := json.Unmarshal(raw, &files); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(s.dir, "program"))
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range files {
		if err := errors.Join(root.MkdirAll(path.Dir(name), 0o700), root.WriteFile(name, content, 0o700)); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) copyInputs(ctx context.Context, s *stage) error {
	root, err := os.OpenRoot(s.folder())
	if err != nil {
		return err
	}
	defer root.Close()
	config, err := j.folder.Read("run_config.yaml")
	if err == nil {
		err = root.WriteFile("run_config.yaml", config, 0o600)
	}
	for _, name := range j.work.Node.Inputs {
		if err != nil {
			return err
		}
		if workflow.IsTree(name) {
			err = copyTree(ctx, filepath.Join(j.try.Dir, filepath.FromSlash(name)), filepath.Join(s.folder(), filepath.FromSlash(name)))
			continue
		}
		var raw []byte
		if raw, err = j.artifact(name); err == nil {
			at := j.view.Artifacts[name].Path
			err = errors.Join(root.MkdirAll(path.Dir(at), 0o700), root.WriteFile(at, raw, 0o600))
		}
	}
	return err
}

// walk visits everything in the stage's folder that is no folder, in order.
func (s *stage) walk(visit func(name string, info fs.FileInfo) error) error {
	return filepath.WalkDir(s.folder(), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.folder(), at)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), info)
	})
}

// maxOutput bounds one output of a command, and maxNamed how many files a refusal names.
const (
	maxOutput = 64 << 20
	maxNamed  = 20
)

// outputs checks what the command has left and returns the contents of the outputs that
// its node declares. Anything else that it wrote is ALLOWED_PATHS_VIOLATION.
func (j *job) outputs(s *stage) (map[string][]byte, error) {
	node, strays, out := j.work.Node, []string(nil), map[string][]byte{}
	err := s.walk(func(name string, info fs.FileInfo) error {
		if out := path.Base(name); path.Dir(name) == "artifacts" && slices.Contains(node.Outputs, out) {
			if !info.Mode().IsRegular() || info.Size() > maxOutput {
				return fault.New(fault.InvalidInput, "the output %s of node %s is no regular file of at most %d bytes", out, node.Name, maxOutput)
			}
			return nil
		}
		if s.inputs[name] != (fingerprint{info.Size(), info.ModTime()}) {
			strays = append(strays, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(strays) > 0 {
		return nil, fault.New(fault.AllowedPathsViolation, "node %s wrote %.200q, which is none of its outputs (%s)", node.Name, strays[0], strings.Join(node.Outputs, ", ")).
			WithHint("name it among the node's outputs as a file in artifacts/, or write it below $TMPDIR").
			WithDetails(map[string][]string{"written": strays[:min(len(strays), maxNamed)]})
	}
	for _, name := range node.Outputs {
		raw, err := os.ReadFile(filepath.Join(s.folder(), "artifacts", name))
		if err != nil {
			return nil, fault.New(fault.ArtifactNotFound, "node %s ended well and has not written its output artifacts/%s", node.Name, name)
		}
		out[name] = raw
	}
	return out, nil
}
