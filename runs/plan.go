package runs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
)

// Work is one work item to execute.
type Work struct {
	Key   string // "<run>/<node>.<visit>[.<item>]": effects under this key happen once
	Run   ID
	Node  Node
	Visit int
	Item  string // what the node fans out over; empty without fan-out
	Tries int    // attempts that were started before
}

// Decision is what to do next with a run: execute work, write events (durable
// before anything follows from them), or wait for a command. A zero Decision
// means that the run is over.
type Decision struct {
	Execute []Work
	Write   []Draft
	Wait    bool
}

// Next decides. It is pure: the same view gives the same decision, and after a
// crash in the middle of a Write the rest of it is decided again.
func Next(v *View) Decision {
	if v.RunID == "" {
		return Decision{}
	}
	if c := v.commandIn(Active); c != nil && !v.Busy() {
		return write(settle(v, c.ID))
	}
	if c := v.commandIn(Pending); c != nil {
		return Decision{Write: obey(v, c.Command)}
	}
	switch {
	case v.State.Terminal():
		return Decision{}
	case v.Failure != nil:
		return Decision{Write: end(v, RunFailed, *v.Failure, StateFailed)}
	case v.Paused != nil:
		return Decision{Wait: true}
	case v.Jump != "":
		return write(enter(v, v.Jump, ""))
	}
	node, _ := v.Created.Workflow.Node(v.Node) // the fold admits no unknown node
	if node.Enter != "" && v.State == v.Entries[v.Node] && v.State != node.Enter {
		return write(change(v, v.State, node.Enter))
	}
	visit := v.visitOf(v.Node)
	var todo []Work
	for _, w := range v.items(v.Node, visit) {
		if w.Status != Finished {
			todo = append(todo, Work{Key: w.ID, Run: v.RunID, Node: node, Visit: visit, Item: w.Scope, Tries: w.Attempt})
		}
	}
	if len(todo) > 0 {
		return Decision{Execute: todo}
	}
	return Decision{Write: advance(v, node)}
}

func write(d ...Draft) Decision { return Decision{Write: d} }

// visitOf returns the visit that the run is at: while it walks its trail again
// after a rewind, the one recorded there.
func (v *View) visitOf(node string) int {
	if v.Replay > 0 {
		return v.Trail[len(v.Trail)-1-v.Replay].Visit
	}
	return v.Visits[node]
}

// advance leaves a node whose work is done.
func advance(v *View, node Node) []Draft {
	step := node.step(v.outcomeOf(node.Name, v.visitOf(node.Name)))
	state, out := v.State, []Draft(nil)
	terminal := State("")
	for _, to := range []State{node.Exit, step.State} {
		switch {
		case to == "" || to == state || state == step.State:
		case to.Terminal():
			terminal = to // the last event of all
		default:
			out = append(out, change(v, state, to))
			state = to
		}
	}
	if v.Replay > 0 {
		next := v.Trail[len(v.Trail)-v.Replay]
		next.CommandID = ""
		return append(out, Draft{Type: NodeEntered, Payload: next})
	}
	if len(step.Await) > 0 && !v.Created.Flags[step.Auto] {
		return append(out, pause(v, node, step)...)
	}
	if step.Node != "" {
		return append(out, enter(v, step.Node, ""))
	}
	return append(out, closing(v, state, terminal)...)
}

// pause waits for a command, or goes on with the one that is held for this.
func pause(v *View, node Node, step Step) (out []Draft) {
	if held, ok := v.Held(); ok {
		if to, awaits := step.Await[node.Takes[held.Type].As]; awaits && !step.Drop {
			return []Draft{enter(v, to, held.ID)}
		}
		out = drop(v)
	}
	return append(out, Draft{Type: RunPaused, Payload: Pause{Reason: step.Reason, Await: awaited(step)}})
}

// drop throws away the command that is held, if there is one.
func drop(v *View) []Draft {
	held, ok := v.Held()
	if !ok {
		return nil
	}
	return []Draft{{Type: CommandFinished, Payload: Receipt{CommandID: held.ID, Status: Dropped, State: v.State}}}
}

func closing(v *View, state, terminal State) []Draft {
	var out []Draft
	if terminal == "" {
		terminal = StateDone
	}
	if !v.Ended {
		out = append(out, Draft{Type: RunCompleted, Payload: Ended{}})
	}
	return append(out, change(v, state, terminal))
}

// outcomeOf returns the first outcome among the items of a visit.
func (v *View) outcomeOf(node string, visit int) string {
	for _, w := range v.items(node, visit) {
		if w.Outcome != "" {
			return w.Outcome
		}
	}
	return ""
}

func awaited(s Step) []string {
	var out []string
	for c := range s.Await {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// change is a transition, or its refusal where the state table lacks it.
func change(v *View, from, to State) Draft {
	if !Allowed(v.Kind, from, to) {
		return Draft{Type: TransitionRefused, Payload: StateChange{from, to}}
	}
	return Draft{Type: RunStateChanged, Payload: StateChange{from, to}}
}

// enter goes on to a node, on a new visit unless the last one still stands. The state in which the node works is
// entered next.
func enter(v *View, name, command string) Draft {
	node, _ := v.Created.Workflow.Node(name)
	return Draft{Type: NodeEntered, Payload: Entered{Node: name, Visit: v.next(node), Items: v.FanOut[node.FanOut], CommandID: command}}
}

// end closes a run that did not complete.
func end(v *View, t EventType, payload any, to State) []Draft {
	var out []Draft
	if !v.Ended {
		out = append(out, Draft{Type: t, Payload: payload})
	}
	return append(out, Draft{Type: RunStateChanged, Payload: StateChange{v.State, to}})
}

// settle answers a command whose work has come to rest.
func settle(v *View, id string) Draft {
	r := Receipt{CommandID: id, Status: CommandDone, State: v.State}
	switch {
	case v.State == StateFailed && v.Failure != nil:
		r.Status, r.Failure = Refused, v.Failure
	case v.State == StateCancelled:
		r.Status, r.Failure = Refused, &Failure{Code: string(fault.Cancelled), Message: "the run was cancelled"}
	}
	return Draft{Type: CommandFinished, Payload: r}
}

// Answer decides on a command that has come in while work is executed, and is nil when
// there is none that is not left until the work has come to rest: a cancel and a resume are.
func Answer(v *View) []Draft {
	i := slices.IndexFunc(v.Commands, func(c CommandState) bool { return c.Status == Pending && c.Type != Cancel && c.Type != Resume })
	if i < 0 || !v.Busy() {
		return nil
	}
	return obey(v, v.Commands[i].Command)
}

// obey decides on a command that has just come in.
func obey(v *View, c Command) []Draft {
	node, _ := v.Created.Workflow.Node(v.Node)
	take, takes := node.Takes[c.Type]
	switch {
	case v.rival(c):
		return refuse(v, c, fault.IdempotencyConflict, false, "the idempotency key %q was used for another request", c.Once.Key)
	case c.Type == Cancel:
		return obeyCancel(v, c)
	case c.Type == Resume:
		return obeyResume(v, c)
	case v.Busy() && takes:
		return takeIn(v, c, take)
	case v.Busy():
		return refuse(v, c, fault.RunLocked, true, "run %s is executing %s", v.RunID, v.Node)
	}
	if asks := cmp.Or(take.As, c.Type); v.Paused != nil && slices.Contains(v.Paused.Await, asks) {
		return []Draft{enter(v, node.step(v.outcomeOf(node.Name, v.visitOf(node.Name))).Await[asks], c.ID)}
	}
	if v.Paused != nil && takes {
		return []Draft{{Type: CommandFinished, Payload: Receipt{CommandID: c.ID, Status: CommandDone, State: v.State}}}
	}
	return refuse(v, c, fault.IllegalState, false, "a run in %s does not take the command %q", v.State, c.Type)
}

// takeIn does with a command what the node that works says.
func takeIn(v *View, c Command, t Take) (out []Draft) {
	r := Receipt{CommandID: c.ID, Status: CommandDone, State: v.State, Told: t.Tell}
	if t.As != "" {
		r.Status = Held
	}
	if t.As != "" || t.Drop {
		out = drop(v)
	}
	return append(out, Draft{Type: CommandFinished, Payload: r})
}

func obeyCancel(v *View, c Command) []Draft {
	done := func(s State) Draft {
		return Draft{Type: CommandFinished, Payload: Receipt{CommandID: c.ID, Status: CommandDone, State: s}}
	}
	switch {
	case v.State == StateCancelled:
		return []Draft{done(StateCancelled)}
	case v.State.Terminal():
		return refuse(v, c, fault.IllegalState, false, "run %s is already %s", v.RunID, v.State)
	}
	return append(end(v, RunCancelled, Ended{Reason: "cancelled on request"}, StateCancelled), done(StateCancelled))
}

func obeyResume(v *View, c Command) []Draft {
	done := Draft{Type: CommandFinished, Payload: Receipt{CommandID: c.ID, Status: CommandDone, State: v.State}}
	switch {
	case v.State == StateDone || v.State == StateCancelled:
		return refuse(v, c, fault.IllegalState, false, "run %s is already %s", v.RunID, v.State)
	case c.Force != "" && v.Entries[c.Force] == "" || c.Force != "" && v.Published != nil:
		return refuse(v, c, fault.InvalidInput, false, "node %q cannot be executed again: the run has not come to it, or its pull request is open", c.Force)
	}
	out, back := obeyRedo(v, c)
	switch {
	case back != "":
		return out
	case v.Paused != nil || len(v.Trail) == 0:
		return append(out, done)
	}
	first := v.Trail[0]
	done.Payload = Receipt{CommandID: c.ID, Status: CommandDone, State: v.Stable}
	return append(out, Draft{Type: ResumeRewind, Payload: Rewind{FromState: v.State, ToState: v.Stable, Node: first.Node, CommandID: c.ID}}, done)
}

// obeyRedo records the artifacts that are not what they were, and sends the run back to the
// first node that has to be executed anew: because of them, or by force. back is its name,
// empty when there is none. Behind a pull request nothing is.
func obeyRedo(v *View, c Command) (out []Draft, back string) {
	if v.Published != nil {
		return nil, ""
	}
	for _, a := range c.Changed {
		out = append(out, Draft{Type: ArtifactChanged, Payload: a})
	}
	anew := v.stale(c.Changed)
	switch {
	case c.Force != "":
		anew = append(anew, c.Force)
		back = v.Created.Workflow.first(anew)
	case len(anew) > 0:
		back = v.Created.Workflow.first(append([]string{v.unfinished()}, anew...))
	default:
		return out, ""
	}
	to := v.Entries[back]
	return append(out,
		Draft{Type: ResumeRewind, Payload: Rewind{FromState: v.State, ToState: to, Node: back, Redo: true, Anew: anew, CommandID: c.ID}},
		Draft{Type: CommandFinished, Payload: Receipt{CommandID: c.ID, Status: CommandDone, State: to}},
	), back
}

func refuse(v *View, c Command, code fault.Code, retryable bool, format string, args ...any) []Draft {
	f := &Failure{Code: string(code), Message: fmt.Sprintf(format, args...), Retryable: retryable}
	return []Draft{{Type: CommandFinished, Payload: Receipt{CommandID: c.ID, Status: Refused, State: v.State, Failure: f}}}
}
