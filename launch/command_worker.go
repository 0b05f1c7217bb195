package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// ranCommand is what the journal keeps of a command that a node started.
type ranCommand struct {
	ExitCode int    `json:"exit_code"`
	Log      string `json:"log"` // in the run's folder
}

// command executes the program of a node on a stage, under the supervisor: it ends with
// this process, so that after a crash nothing of it is left, and is then begun anew. What
// it declares becomes artifacts when it has ended well and has written nothing else. Of a
// gate, the exit code is the outcome.
func (w *workers) command(ctx context.Context, j *job) (runs.Result, error) {
	node := j.work.Node
	if w.processes == nil || node.Program == nil {
		return runs.Result{}, fault.New(fault.WorkerMissing, "node %s starts a program, which this server cannot", node.Name)
	}
	s, err := j.stage(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	defer s.remove()
	st, said, err := j.execute(ctx, s)
	if err != nil {
		return runs.Result{}, err
	}
	did := ranCommand{ExitCode: st.Exit, Log: j.logName()}
	outcome := ""
	if node.Program.Gate {
		outcome = "ok"
	}
	if st.State != proc.Exited || st.Signal != "" || st.Exit != 0 {
		_, branches := node.Next["failed"]
		if !node.Program.Gate || st.Exit <= 0 || !branches {
			return runs.Result{}, j.commandFailed(st, said)
		}
		outcome = "failed"
	}
	made, err := j.outputs(s)
	if err != nil {
		return runs.Result{}, err
	}
	for _, name := range node.Outputs {
		if err := j.product(name, made[name]); err != nil {
			return runs.Result{}, err
		}
	}
	return runs.Result{Outcome: outcome, Data: did}, nil
}

// stopGrace is less than what the engine grants work that it interrupts.
const stopGrace = 2 * time.Second

// execute starts the program and waits for its end. It returns the end of its output, of
// which the log has more.
func (j *job) execute(ctx context.Context, s *stage) (proc.Status, string, error) {
	key := "node-" + strings.ToLower(rand.Text())
	words := make([]string, len(j.work.Node.Program.Command))
	for i, word := range j.work.Node.Program.Command {
		if name, own := strings.CutPrefix(word, "./"); own {
			word = filepath.Join(s.dir, "program", filepath.FromSlash(path.Clean(name)))
		}
		words[i] = word
	}
	_, err := j.processes.Ensure(ctx, key, proc.ProcSpec{Name: words[0], Args: words[1:], Dir: s.folder(), Env: j.commandEnv(), Grace: stopGrace})
	var st proc.Status
	if err == nil {
		st, err = j.processes.Wait(ctx, key)
	}
	if ctx.Err() != nil {
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), 2*stopGrace)
		defer done()
		_, _ = j.processes.Stop(stop, key, stopGrace) // the reason is ctx's
		err = context.Cause(ctx)
	}
	said := j.keepLog(key)
	_ = j.processes.Remove(key) // else the tasks' collection does
	return st, said, err
}

// commandEnv is what every program that works in a project inherits, and which run it is.
func (j *job) commandEnv() []string {
	env := proc.WorkEnv(j.env, func(string) bool { return false })
	return j.work.Run.Traced(append(env, "GANTRY_RUN_ID="+string(j.work.Run), "GANTRY_NODE="+j.work.Node.Name))
}

func (j *job) logName() string { return fmt.Sprintf("logs/%s.%d.log", j.work.Node.Name, j.work.Visit) }

// keepLog writes the end of what the program said to its log, and returns the last of it.
func (j *job) keepLog(key string) string {
	tail, err := j.processes.Tail(key, 0, 0)
	if err != nil {
		return ""
	}
	text := proc.Text(tail.Data)
	if j.redact != nil {
		text = j.redact(text)
	}
	_, _ = j.folder.Write(j.logName(), []byte(text)) // a node does not fail for its log
	text = strings.TrimSpace(text)
	return strings.ToValidUTF8(text[max(0, len(text)-lastWords):], "")
}

// lastWords is how many bytes of the output of a command a failure shows.
const lastWords = 1000

func (j *job) commandFailed(st proc.Status, said string) error {
	what, how := "the command of node", fmt.Sprintf("ended with exit code %d", st.Exit)
	if j.work.Node.Program.Gate {
		what = "the gate"
	}
	switch {
	case st.Signal != "":
		how = "was ended by " + st.Signal
	case st.State != proc.Exited:
		how = "was lost"
	}
	return fault.New(fault.ProcessFailed, "%s %s %s", what, j.work.Node.Name, how).
		WithHint("read %s in the run's folder; once it is mended, launch_resume goes on with this node", j.logName()).
		WithDetails(map[string]any{"exit_code": st.Exit, "output": said})
}

// product makes an output of a command an artifact. One that ends in .json must be JSON,
// and one that the launch knows must fit its schema.
func (j *job) product(name string, raw []byte) error {
	if strings.HasSuffix(name, ".json") && !json.Valid(raw) {
		return fault.New(fault.SchemaValidationFailed, "the output %s of node %s is not JSON", name, j.work.Node.Name)
	}
	schema, err := j.schemas.Artifact(name)
	schemaID := name
	switch {
	case fault.Is(err, fault.ArtifactNotFound):
		schemaID = ""
	case err != nil:
		return err
	case schema != nil:
		problems, err := schema.Check(raw)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			return validate.Fault(name, problems)
		}
	}
	info, err := j.folder.Write(path.Join("artifacts", name), raw)
	if err != nil {
		return err
	}
	j.event(runs.ArtifactWritten, runs.Artifact{
		Name: name, Path: info.Path, SHA256: info.SHA256, Size: info.Size, SchemaID: schemaID, Writer: j.work.Node.Name,
	})
	return nil
}
