package runstest

import (
	"encoding/json"
	"fmt"

	"github.com/gantry-run/gantry/runs"
)

// Script is the input of a run in the suite: what its workers do. Items of work are
// named "<node>.<visit>[.<item>]".
type Script struct {
	Items    []string          `json:"items"`              // what draft fans out over
	Outcomes map[string]string `json:"outcomes,omitempty"` // where it is not the usual one
	Flaky    map[string]int    `json:"flaky,omitempty"`    // attempts that fail and may be retried
	Ruin     map[string]string `json:"ruin,omitempty"`     // hang, fail, panic, stray or late
	WorkUS   int               `json:"work_us"`            // how long an item takes
}

// What a script can do to an item besides letting it succeed.
const (
	Hang  = "hang"  // execute until interrupted, or the file work/mended is in the run's folder
	Fail  = "fail"  // fail for good until that file is there
	Panic = "panic" // panic
	Stray = "stray" // report an event that is not a worker's to report
	Late  = "late"  // the first attempt takes longer than the node's timeout
)

// worker is the name of the worker of every node of [Workflow].
const worker = "scripted"

// Workflow is the node table of the suite: it has a fan-out, a loop, pauses and
// every state of a launch.
func Workflow() runs.Workflow {
	node := func(name string, exit runs.State, next string) runs.Node {
		return runs.Node{Name: name, Worker: worker, Exit: exit, TimeoutS: 60, Retries: 3, Next: map[string]runs.Step{"*": {Node: next}}}
	}
	draft := node("draft", runs.StateDraftReady, "link")
	draft.Enter, draft.FanOut = runs.StateDrafting, "plan"
	link := node("link", runs.StateLinking, "validate")
	link.TimeoutS = 1
	link.Retries = 1
	validate := node("validate", runs.StateValidating, "")
	validate.Next = map[string]runs.Step{
		"ok": {State: runs.StateReadyForPR, Node: "publish", Await: map[string]string{"publish": "publish", "validate": "validate"}, Auto: "publish"},
		"*":  {Node: "fix", Await: map[string]string{"fix": "fix", "validate": "validate"}, Auto: "fix"},
	}
	fix := node("fix", runs.StateValidating, "validate")
	fix.Enter = runs.StateFixing
	finish := node("finish", runs.StateDone, "")
	finish.Next = nil
	return runs.Workflow{Name: "suite", Version: "1", Kind: runs.Launch, Nodes: []runs.Node{
		node("clone", runs.StateClonedInputs, "ingest"), node("ingest", runs.StateIngested, "facts"),
		node("facts", runs.StateFactsReady, "plan"), node("plan", runs.StatePlanReady, "draft"),
		draft, link, validate, fix, node("publish", runs.StatePROpened, "finish"), finish,
	}}
}

// Request returns a start of a run that does what the script says.
func Request(s Script, flags ...string) runs.StartRequest {
	input, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprint("a script always encodes: ", err))
	}
	on := map[string]bool{}
	for _, f := range flags {
		on[f] = true
	}
	return runs.StartRequest{Kind: runs.Launch, Workflow: Workflow(), Input: input, Flags: on, Labels: map[string]string{"product_slug": "suite"}}
}
