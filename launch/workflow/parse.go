package workflow

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// file is a workflow as it is written.
type file struct {
	Name    string   `yaml:"name"`
	Version string   `yaml:"version"`
	Files   []string `yaml:"files"`
	Nodes   []node   `yaml:"nodes"`
}

type node struct {
	Name     string          `yaml:"name"`
	Worker   worker          `yaml:"worker"`
	Enter    runs.State      `yaml:"enter"`
	Exit     runs.State      `yaml:"exit"`
	Inputs   []string        `yaml:"inputs"`
	Outputs  []string        `yaml:"outputs"`
	After    []string        `yaml:"after"`
	TimeoutS int             `yaml:"timeout_s"`
	Retries  int             `yaml:"retries"`
	FanOut   string          `yaml:"fan_out"`
	Reuse    *bool           `yaml:"reuse"`
	Next     map[string]step `yaml:"next"`
}

type step struct {
	State  runs.State        `yaml:"state"`
	Node   string            `yaml:"node"`
	Await  map[string]string `yaml:"await"`
	Auto   string            `yaml:"auto"`
	Reason string            `yaml:"reason"`
}

// worker is a name, {"command": [...]} or {"gate": [...]}.
type worker struct {
	name    string
	command []string
	gate    bool
}

// UnmarshalYAML reads either form.
func (w *worker) UnmarshalYAML(raw []byte) error {
	if err := yaml.Unmarshal(raw, &w.name); err == nil {
		return nil
	}
	w.name = Command
	var program struct {
		Command []string `yaml:"command"`
		Gate    []string `yaml:"gate"`
	}
	if err := yaml.UnmarshalWithOptions(raw, &program, yaml.Strict()); err != nil {
		return err
	}
	if (len(program.Command) > 0) == (len(program.Gate) > 0) {
		return fmt.Errorf("a worker is a name, {command: [...]} or {gate: [...]}")
	}
	w.command, w.gate = append(program.Command, program.Gate...), len(program.Gate) > 0
	return nil
}

// The bounds of a node.
const (
	defaultTimeout = 300
	maxTimeout     = 24 * 60 * 60
	maxNodes       = 200
)

var nameForm = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

func bad(format string, args ...any) error {
	return fault.New(fault.InvalidInput, "workflow: %s", fmt.Sprintf(format, args...))
}

// parse reads a workflow and returns the files beside it that it names, sorted.
func parse(raw []byte, workers []string) (runs.Workflow, []string, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict())
	if err := dec.Decode(&f); err != nil {
		return runs.Workflow{}, nil, bad("%s", strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if f.Name == "" || len(f.Name) > 64 || len(f.Version) > 64 || len(f.Nodes) > maxNodes {
		return runs.Workflow{}, nil, bad("it needs a name, of at most 64 characters, and at most %d nodes", maxNodes)
	}
	flow := runs.Workflow{Name: f.Name, Version: f.Version, Kind: runs.Launch}
	names := slices.Clone(f.Files)
	for i, n := range f.Nodes {
		next := ""
		if i+1 < len(f.Nodes) {
			next = f.Nodes[i+1].Name
		}
		made, err := n.node(next, workers)
		if err != nil {
			return runs.Workflow{}, nil, err
		}
		flow.Nodes = append(flow.Nodes, made)
		for _, word := range n.Worker.command {
			if name, own := strings.CutPrefix(word, "./"); own {
				names = append(names, name)
			}
		}
	}
	for i, name := range names {
		if names[i] = path.Clean(name); !filepath.IsLocal(name) || names[i] == "." {
			return runs.Workflow{}, nil, bad("%.80q is not beside the workflow", name)
		}
	}
	slices.Sort(names)
	return flow, slices.Compact(names), flow.Check()
}

// node makes the node of the table. Without a next, it leads to the node behind it.
func (n node) node(next string, workers []string) (runs.Node, error) {
	if !nameForm.MatchString(n.Name) {
		return runs.Node{}, bad("the name of a node is up to 64 small letters, digits and underscores, not %.80q", n.Name)
	}
	out := runs.Node{
		Name: n.Name, Worker: n.Worker.name, Enter: n.Enter, Exit: n.Exit, Inputs: n.Inputs, Outputs: n.Outputs, After: n.After,
		TimeoutS: n.TimeoutS, Retries: n.Retries, FanOut: n.FanOut, Next: map[string]runs.Step{},
	}
	if out.TimeoutS == 0 {
		out.TimeoutS = defaultTimeout
	}
	if out.TimeoutS < 1 || out.TimeoutS > maxTimeout || n.Retries < 0 || n.Retries > 100 {
		return out, bad("node %s: timeout_s is from 1 to %d, retries from 0 to 100", n.Name, maxTimeout)
	}
	for outcome, s := range n.Next {
		out.Next[outcome] = runs.Step{State: s.State, Node: s.Node, Await: s.Await, Auto: s.Auto, Reason: s.Reason}
	}
	if len(n.Next) == 0 {
		out.Next["*"] = runs.Step{Node: next}
	}
	if n.Reuse != nil {
		out.Reuse = *n.Reuse
	}
	if n.Worker.command == nil {
		if !slices.Contains(workers, n.Worker.name) {
			return out, bad("node %s: there is no worker %.80q; there are %s", n.Name, n.Worker.name, strings.Join(workers, ", "))
		}
		return out, nil
	}
	out.Reuse = n.Reuse == nil || *n.Reuse
	out.Program = &runs.Program{Command: n.Worker.command, Gate: n.Worker.gate}
	return out, n.program()
}

// program checks what holds for a node with a command.
func (n node) program() error {
	word := n.Worker.command[0]
	switch {
	case n.FanOut != "":
		return bad("node %s: a command does not fan out", n.Name)
	case word == "" || strings.Contains(word, "/") && !strings.HasPrefix(word, "./") && !filepath.IsAbs(word):
		return bad("node %s: a program is ./a file beside the workflow, a name in PATH or an absolute path, not %.80q", n.Name, word)
	case n.Worker.gate && len(n.Outputs) > 0:
		return bad("node %s: a gate has no outputs", n.Name)
	}
	for _, name := range n.Outputs {
		if err := validate.ArtifactName(name); err != nil {
			return bad("node %s: the output %.80q is no name of an artifact", n.Name, name)
		}
	}
	for _, name := range n.Inputs {
		if !IsTree(name) && validate.ArtifactName(name) != nil {
			return bad("node %s: the input %.80q is neither an artifact nor one of %s", n.Name, name, strings.Join(Trees(), ", "))
		}
	}
	return nil
}

// Trees returns the folders of a run that a command may have among its inputs.
func Trees() []string { return []string{"drafts", "work/repo", "work/site"} }

// IsTree reports whether an input is a folder.
func IsTree(input string) bool { return slices.Contains(Trees(), input) }
