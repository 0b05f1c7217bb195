package workflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/workflow"
)

var workers = []string{"clone_inputs", "validate"}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const good = `name: good
files: [lib/shared.awk]
nodes:
  - {name: first, worker: clone_inputs, exit: CLONED_INPUTS}
  - {name: second, worker: {command: [./run.sh, --fast, ./data/table.tsv]}, inputs: [work/repo], outputs: [made.json]}
  - {name: third, worker: {gate: [sh, -c, "test -s artifacts/made.json"]}, inputs: [made.json], reuse: false, next: {ok: {}, failed: {node: second}}}
`

// place writes a workflow and what the good one brings, and returns its path.
func place(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"flow.yaml": text, "run.sh": "#!/bin/sh\n", "data/table.tsv": "1\t2\n", "lib/shared.awk": "{}\n"} {
		write(t, filepath.Join(dir, name), content)
	}
	return filepath.Join(dir, "flow.yaml")
}

func TestAWorkflowIsReadWithWhatItBrings(t *testing.T) {
	t.Parallel()
	d, err := workflow.Open(place(t, good), workers)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Files) != 3 || string(d.Files["data/table.tsv"]) != "1\t2\n" {
		t.Errorf("it brings %v", d.Files)
	}
	second, _ := d.Flow.Node("second")
	third, _ := d.Flow.Node("third")
	if second.Worker != workflow.Command || !second.Reuse || second.TimeoutS != 300 || second.Next["*"].Node != "third" || second.Program.Gate {
		t.Errorf("second is %+v", second)
	}
	if !third.Program.Gate || third.Reuse || third.Next["failed"].Node != "second" || third.Next["ok"].Node != "" {
		t.Errorf("third is %+v", third)
	}
}

func TestAWorkflowThatCannotBeUsedSaysWhy(t *testing.T) {
	t.Parallel()
	node := func(members string) string { return "name: x\nnodes: [{" + members + "}]\n" }
	for text, says := range map[string]string{
		"nodes: []":                                                           "name",
		"name: x\nnodes: []":                                                  "no nodes",
		"name: x\nnode: []\n":                                                 "node",
		"name: [":                                                             "workflow",
		node(`name: A, worker: clone_inputs`):                                 "small letters",
		node(`name: a, worker: no_such`):                                      "no worker",
		node(`name: a, worker: command`):                                      "no worker",
		node(`name: a, worker: {command: []}`):                                "worker",
		node(`name: a, worker: {command: [a], gate: [b]}`):                    "worker",
		node(`name: a, worker: {agent: codex, prompt: hi}`):                   "unknown field",
		node(`name: a, worker: {command: [bin/x]}`):                           "beside the workflow",
		node(`name: a, worker: {command: [./../x]}`):                          "not beside",
		node(`name: a, worker: {command: [./none.sh]}`):                       "not there",
		node(`name: a, worker: {command: [./data]}`):                          "regular file",
		node(`name: a, worker: {command: [a]}, fan_out: a`):                   "fan out",
		node(`name: a, worker: {gate: [a]}, outputs: [x.md]`):                 "no outputs",
		node(`name: a, worker: {command: [a]}, outputs: [../x]`):              "no name of an artifact",
		node(`name: a, worker: {command: [a]}, inputs: [work/nodes]`):         "neither an artifact",
		node(`name: a, worker: {command: [a]}, next: {"*": {node: nowhere}}`): "nowhere",
		node(`name: a, worker: {command: [a]}, timeout_s: 100000`):            "timeout_s",
		node(`name: a, worker: {command: [a]}, exit: NOWHERE`):                "NOWHERE",
		node(`name: a, worker: {command: [a]}, after: [nowhere]`):             "nowhere",
	} {
		if _, err := workflow.Open(place(t, text), workers); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want something about %q", text, err, says)
		}
	}
	path := place(t, good)
	if err := os.Remove(filepath.Join(filepath.Dir(path), "run.sh")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "run.sh")
	write(t, outside, "#!/bin/sh\n")
	if err := os.Symlink(outside, filepath.Join(filepath.Dir(path), "run.sh")); err != nil {
		t.Fatal(err)
	}
	if _, err := workflow.Open(path, workers); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a link that leads out: %v", err)
	}
}

// Whatever of it changes, the consent is to what it was.
func TestConsentIsToTheWorkflowAsItIs(t *testing.T) {
	t.Parallel()
	path := place(t, good)
	open := func() *workflow.Definition {
		t.Helper()
		d, err := workflow.Open(path, workers)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	c := workflow.Consents{Path: filepath.Join(t.TempDir(), "gantry", "workflows.json")}
	denied := func(what string) {
		t.Helper()
		err := c.Check(open(), "flow.yaml")
		if f := fault.From(err); f.Code != fault.AccessDenied || !strings.Contains(f.Hint, "gantry allow --workflow flow.yaml") {
			t.Errorf("%s: %v", what, err)
		}
	}
	denied("never allowed")
	for range 2 {
		if err := c.Allow(open()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Check(open(), "flow.yaml"); err != nil {
		t.Error(err)
	}
	if all, err := c.List(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	for _, name := range []string{"flow.yaml", "run.sh", "data/table.tsv", "lib/shared.awk"} {
		at := filepath.Join(filepath.Dir(path), name)
		was, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		write(t, at, string(was)+"# more\n")
		denied(name + " has changed")
		write(t, at, string(was))
	}
	if found, err := c.Withdraw(open().Path); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	denied("withdrawn")
	write(t, c.Path, `{"workflows": [`)
	if err := c.Check(open(), "flow.yaml"); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("a damaged file: %v", err)
	}
	if err := (workflow.Consents{}).Check(open(), "flow.yaml"); !fault.Is(err, fault.AccessDenied) {
		t.Errorf("without a file: %v", err)
	}
}
