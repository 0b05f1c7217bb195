package runs

import (
	"fmt"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Workflow is a node table. It is data: specs/workflows holds the one that ships.
type Workflow struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    Kind   `json:"kind"`
	Nodes   []Node `json:"nodes"` // the first one is where a run starts
}

// Node is one step of a workflow.
type Node struct {
	Name     string          `json:"name"`
	Worker   string          `json:"worker"`           // whose code executes it
	Enter    State           `json:"enter,omitempty"`  // state while it works; empty: unchanged
	Exit     State           `json:"exit,omitempty"`   // state once it has finished
	Inputs   []string        `json:"inputs,omitempty"` // artifact names that it reads
	Outputs  []string        `json:"outputs,omitempty"`
	TimeoutS int             `json:"timeout_s"`
	Retries  int             `json:"retries"`           // further attempts after a retryable failure
	FanOut   string          `json:"fan_out,omitempty"` // node whose items it is executed for, in parallel
	Next     map[string]Step `json:"next,omitempty"`    // by outcome; "*" is any other
	Takes    map[string]Take `json:"takes,omitempty"`   // command type → what the node does with it while it works
	History  bool            `json:"history,omitempty"` // the data of each visit is kept, not only that of the last
	Reuse    bool            `json:"reuse,omitempty"`   // it depends on its inputs and After alone: while they are as they were, a run that is sent back passes over it
	After    []string        `json:"after,omitempty"`   // nodes whose work it reads apart from its inputs
	Program  *Program        `json:"program,omitempty"` // what it starts, in a workflow that somebody has brought
}

// Program is a command that a node starts. Words that begin with "./" name files that the
// run was started with.
type Program struct {
	Command []string `json:"command"`
	Gate    bool     `json:"gate,omitempty"` // its exit code is the outcome: ok or failed
}

// Take says what becomes of a command that comes while a node works. All of them are
// answered at once. When the run is paused after the node, one with As is obeyed as that
// command, and any other one has nothing to do.
type Take struct {
	As   string `json:"as,omitempty"`   // it is held, and obeyed as this one when the run would pause for it
	Drop bool   `json:"drop,omitempty"` // the command that is held is dropped
	Tell bool   `json:"tell,omitempty"` // the worker is told: [View.Told]
}

// Step says what follows a node. With Await set and its Auto flag not, the run
// pauses until one of those commands arrives, and goes on at the node that it
// names; else it goes on at Node, or is complete when that is empty. A command that is
// held for this pause is obeyed in its place, unless Drop is set.
type Step struct {
	State  State             `json:"state,omitempty"`
	Node   string            `json:"node,omitempty"`
	Await  map[string]string `json:"await,omitempty"` // command type → node
	Auto   string            `json:"auto,omitempty"`
	Reason string            `json:"reason,omitempty"` // why it pauses
	Drop   bool              `json:"drop,omitempty"`   // a command that is held is dropped
}

// Timeout returns how long one attempt of the node may take.
func (n Node) Timeout() time.Duration { return time.Duration(n.TimeoutS) * time.Second }

// Node returns the node of that name.
func (w Workflow) Node(name string) (Node, bool) {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return w.Nodes[i], true
}

// step returns what follows the node after the outcome.
func (n Node) step(outcome string) Step {
	if s, ok := n.Next[outcome]; ok {
		return s
	}
	return n.Next["*"]
}

// Check reports the first thing that makes the workflow unusable: a name that is
// not there, a node without worker or timeout, a transition that its kind lacks.
// The error is INVALID_INPUT.
func (w Workflow) Check() error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.InvalidInput, "workflow %s: %s", w.Name, fmt.Sprintf(format, args...))
	}
	if len(w.Nodes) == 0 {
		return bad("it has no nodes")
	}
	for i, n := range w.Nodes {
		if n.Name == "" || n.Worker == "" || n.TimeoutS <= 0 {
			return bad("node %d needs a name, a worker and a timeout_s above 0", i+1)
		}
		if n.FanOut != "" {
			if _, ok := w.Node(n.FanOut); !ok {
				return bad("node %s fans out over the unknown node %q", n.Name, n.FanOut)
			}
		}
		for _, before := range n.After {
			if _, ok := w.Node(before); !ok {
				return bad("node %s comes after the unknown node %q", n.Name, before)
			}
		}
		for _, s := range n.Next {
			for _, to := range append(slices.Collect(mapValues(s.Await)), s.Node) {
				if _, ok := w.Node(to); to != "" && !ok {
					return bad("node %s leads to the unknown node %q", n.Name, to)
				}
			}
		}
		for _, st := range []State{n.Enter, n.Exit} {
			if st != "" && !Known(w.Kind, st) {
				return bad("node %s names the unknown state %q", n.Name, st)
			}
		}
	}
	return nil
}

func mapValues(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}
