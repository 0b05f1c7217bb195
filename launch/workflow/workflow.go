// Package workflow reads workflows that people bring, and remembers which of them may run.
//
// A workflow is a file, YAML or JSON, with a list of nodes. A node's worker is one of
// Gantry's own, a command, or a gate: a command whose exit code is the outcome. Words of
// a command that begin with "./" are files beside the workflow. They are read once, when a
// run starts, and travel inside the run, so nothing that happens to them later changes a
// run that is under way.
//
// A workflow with commands runs only when a person allowed it as it is: [Consents] holds,
// for its path, the hash of the file and of all that its commands name. Whoever can write
// into the project, as an agent can, cannot bring code to run by that.
package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Command is the worker that executes the program of a node.
const Command = "command"

// The bounds of what a workflow may bring.
const (
	maxFile  = 1 << 20
	maxFiles = 100
)

// Definition is a workflow as a file gives it.
type Definition struct {
	Path  string        // of the file: absolute, without links
	Flow  runs.Workflow // checked
	Files map[string][]byte
	sum   string
}

// Open reads the workflow at a path and the files beside it that it names. workers are the
// names that a node's worker may have. What cannot be used is INVALID_INPUT and says why.
func Open(path string, workers []string) (*Definition, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "there is no workflow %.80q", filepath.Base(path)).WithHint("give the path of a YAML or JSON file")
	}
	beside, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, err
	}
	defer beside.Close()
	raw, err := readFile(beside, filepath.Base(real))
	if err != nil {
		return nil, err
	}
	flow, names, err := parse(raw, workers)
	if err != nil {
		return nil, err
	}
	d := &Definition{Path: real, Flow: flow, Files: map[string][]byte{}}
	if len(names) > maxFiles {
		return nil, fault.New(fault.InvalidInput, "a workflow brings at most %d files, this one %d", maxFiles, len(names))
	}
	for _, name := range names {
		if d.Files[name], err = readFile(beside, name); err != nil {
			return nil, err
		}
	}
	d.sum = sum(raw, d.Files)
	return d, nil
}

// readFile reads a regular file below the workflow's folder.
func readFile(beside *os.Root, name string) ([]byte, error) {
	bad := func(why string) error {
		return fault.New(fault.InvalidInput, "the workflow's file %.80q %s", name, why)
	}
	f, err := beside.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad("is not there")
	}
	if err != nil {
		return nil, bad("cannot be read, or is outside the workflow's folder")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, bad("is no regular file")
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, bad("cannot be read")
	}
	if len(raw) > maxFile {
		return nil, bad(fmt.Sprintf("is larger than %d bytes", maxFile))
	}
	return raw, nil
}

// sum is the hash of the workflow and of everything that it brings.
func sum(raw []byte, files map[string][]byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%x\n", sha256.Sum256(raw))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(files[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SHA256 is the hash of the workflow's file and of all files that it brings.
func (d *Definition) SHA256() string { return d.sum }

// Commands returns what the workflow's nodes start, by node.
func (d *Definition) Commands() map[string][]string {
	out := map[string][]string{}
	for _, n := range d.Flow.Nodes {
		if n.Program != nil {
			out[n.Name] = n.Program.Command
		}
	}
	return out
}
