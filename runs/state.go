package runs

import "slices"

// State is where a run is in its life.
type State string

// The states of a launch.
const (
	StateCreated      State = "CREATED"
	StateClonedInputs State = "CLONED_INPUTS"
	StateIngested     State = "INGESTED"
	StateFactsReady   State = "FACTS_READY"
	StatePlanReady    State = "PLAN_READY"
	StateDrafting     State = "DRAFTING"
	StateDraftReady   State = "DRAFT_READY"
	StateLinking      State = "LINKING"
	StateValidating   State = "VALIDATING"
	StateFixing       State = "FIXING"
	StateReadyForPR   State = "READY_FOR_PR"
	StatePROpened     State = "PR_OPENED"
	StateDone         State = "DONE"
	StateFailed       State = "FAILED"
	StateCancelled    State = "CANCELLED"
)

// The states of a target, beside CREATED, FAILED and CANCELLED, which it shares.
const (
	StateRunning State = "RUNNING"
	StateExited  State = "EXITED" // ended by itself, with whatever code
)

// The states of a session, beside CREATED, RUNNING, FAILED and CANCELLED, which it shares.
const (
	StateIdle     State = "IDLE"     // the last turn has ended well, or was stopped
	StateDied     State = "DIED"     // the last turn has failed
	StateArchived State = "ARCHIVED" // put away for good
)

// transition is one arrow of a state machine.
type transition struct{ from, to State }

// transitions returns the arrows of a kind apart from those every unfinished run
// has, to FAILED and CANCELLED. The picture in docs/state-machine.md is made from it.
func transitions(k Kind) []transition {
	switch k {
	case Launch:
		return launchTransitions()
	case Target:
		return []transition{{StateCreated, StateRunning}, {StateRunning, StateExited}}
	case Session:
		return []transition{
			{StateCreated, StateRunning},
			{StateRunning, StateIdle},
			{StateRunning, StateDied},
			{StateIdle, StateRunning},
			{StateDied, StateRunning},
			{StateIdle, StateArchived},
			{StateDied, StateArchived},
		}
	}
	return nil
}

func launchTransitions() []transition {
	return []transition{
		{StateCreated, StateClonedInputs},
		{StateClonedInputs, StateIngested},
		{StateIngested, StateFactsReady},
		{StateFactsReady, StatePlanReady},
		{StatePlanReady, StateDrafting},
		{StateDrafting, StateDraftReady},
		{StateDraftReady, StateLinking},
		{StateLinking, StateValidating},
		{StateValidating, StateFixing},
		{StateFixing, StateValidating},
		{StateValidating, StateReadyForPR},
		{StateValidating, StatePROpened}, // a draft
		{StateReadyForPR, StateValidating},
		{StateReadyForPR, StatePROpened},
		{StatePROpened, StateDone},
		{StateCreated, StateDone}, // from here on: a workflow of one's own may end there
		{StateClonedInputs, StateDone},
		{StateIngested, StateDone},
		{StateFactsReady, StateDone},
		{StatePlanReady, StateDone},
		{StateDraftReady, StateDone},
	}
}

// Allowed reports whether a run of the kind may go from one state to the other.
func Allowed(k Kind, from, to State) bool {
	if to == StateFailed || to == StateCancelled {
		return Known(k, from) && !from.Terminal()
	}
	return slices.Contains(transitions(k), transition{from, to})
}

// States returns the states of a kind in the order of its life.
func States(k Kind) []State {
	switch k {
	case Launch:
		return []State{
			StateCreated, StateClonedInputs, StateIngested, StateFactsReady, StatePlanReady, StateDrafting, StateDraftReady,
			StateLinking, StateValidating, StateFixing, StateReadyForPR, StatePROpened, StateDone, StateFailed, StateCancelled,
		}
	case Target:
		return []State{StateCreated, StateRunning, StateExited, StateFailed, StateCancelled}
	case Session:
		return []State{StateCreated, StateRunning, StateIdle, StateDied, StateArchived, StateFailed, StateCancelled}
	}
	return nil
}

// Known reports whether the kind has the state.
func Known(k Kind, s State) bool { return slices.Contains(States(k), s) }

// Terminal reports whether a run in this state is over.
func (s State) Terminal() bool {
	return s == StateDone || s == StateExited || s == StateArchived || s == StateFailed || s == StateCancelled
}

// Stable reports whether an interrupted run can go on from this state as it is.
func (s State) Stable() bool {
	return s == StatePlanReady || s == StateDraftReady || s == StateReadyForPR
}

// Before reports whether s comes before other in the life of a launch.
func (s State) Before(other State) bool {
	all := States(Launch)
	return slices.Index(all, s) < slices.Index(all, other)
}
