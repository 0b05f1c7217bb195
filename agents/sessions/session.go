package sessions

import (
	"encoding/json"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// ended is what a turn came to, the data of its work item.
type ended struct {
	PID      int            `json:"pid,omitempty"`
	ExitCode *int           `json:"exit_code,omitempty"`
	Signal   string         `json:"signal,omitempty"`
	Error    string         `json:"error,omitempty"`
	Executor string         `json:"executor"`
	Summary  agents.Summary `json:"summary"` // its usage is this turn's
	Counted  agents.Usage   `json:"counted"` // as the agent said, which may be of all turns
}

// archived is where a session's files went, the data of its archiving.
type archived struct {
	Destination string `json:"destination,omitempty"`
}

// stateOf returns how a session is, as its journal says.
func stateOf(v *runs.View) State {
	switch v.State {
	case runs.StateIdle:
		return Idle
	case runs.StateDied, runs.StateFailed, runs.StateCancelled:
		return Died
	case runs.StateArchived:
		return Archived
	}
	return Running
}

// session returns the session of a run.
func (s *Sessions) session(v *runs.View) (Session, error) {
	in, err := inputOf(v)
	if err != nil {
		return Session{}, err
	}
	out := Session{
		ID: v.RunID, Name: nameOf(v, in), Thread: threadOf(v, in), Title: in.Title, State: stateOf(v), Executor: in.Executor, Variant: in.Variant, Model: in.Model,
		Dir: in.Dir, ConfigFile: in.ConfigFile, Labels: v.Labels, Created: v.CreatedAt, Updated: v.UpdatedAt, View: in.View,
	}
	all := turns(v)
	out.Turns = len(all)
	for i, w := range all {
		t, err := turnOf(v, in, w)
		if err != nil {
			return Session{}, err
		}
		if t.Summary.LastMessage != "" {
			out.LastResult = t.Summary.LastMessage
		}
		if i == len(all)-1 {
			out.Last = t
		}
	}
	if held, ok := v.Held(); ok {
		q, err := s.queued(v, held)
		if err != nil {
			return Session{}, err
		}
		out.Queued = &q
	}
	if out.State == Running {
		s.correct(v, &out)
	}
	if raw := v.Results[archiveNode].Data; len(raw) > 0 {
		var a archived
		if err := json.Unmarshal(raw, &a); err != nil {
			return Session{}, err
		}
		out.Archive = a.Destination
	}
	return out, nil
}

// correct says of a turn under way what its process is doing. When nobody drives the
// session, the process may be over and nobody has recorded it.
func (s *Sessions) correct(v *runs.View, out *Session) {
	st, err := s.o.Supervisor.Status(processKey(v.RunID, out.Last.Index))
	if err != nil {
		return // it has not been started
	}
	if !st.State.Ended() {
		out.PID, out.Last.PID = st.PID, st.PID
		return
	}
	if out.Queued != nil || s.o.Store.Driven(v.RunID) {
		return
	}
	out.State = Died
	if st.State == proc.Exited && st.Exit == 0 {
		out.State = Idle
	}
}

// threadOf returns what the CLI calls the conversation now.
func threadOf(v *runs.View, in input) string {
	if t := v.Notes[threadNote]; t != "" {
		return t
	}
	return in.Thread
}

// nameOf returns what the conversation is called from its beginning to its end: what the
// CLI called it first or, as long as it says nothing, the session's id.
func nameOf(v *runs.View, in input) string {
	switch {
	case in.Thread != "":
		return in.Thread
	case v.Notes[nameNote] != "":
		return v.Notes[nameNote]
	}
	return string(v.RunID)
}

// turnOf returns the turn of a work item.
func turnOf(v *runs.View, in input, w *runs.WorkItem) (Turn, error) {
	a, err := askOf(v, in, w)
	if err != nil {
		return Turn{}, err
	}
	t := Turn{ID: TurnID(v.RunID, w.Visit), Index: w.Visit, State: TurnRunning, Prompt: a.Prompt, Variant: a.Variant, Started: v.CreatedAt}
	if w.QueuedAt != nil {
		t.Started = *w.QueuedAt
	}
	if p := v.Process; p != nil && p.Key == processKey(v.RunID, w.Visit) {
		t.PID = p.PID
	}
	if w.FinishedAt != nil {
		t.Ended = *w.FinishedAt
	}
	switch w.Status {
	case runs.Finished:
		t.State = TurnState(w.Outcome)
	case runs.Failed:
		t.State, t.Error = TurnFailed, w.Error.Message
	case runs.Skipped:
		t.State, t.Ended = TurnKilled, v.UpdatedAt
	}
	if len(w.Data) > 0 {
		var e ended
		if err := json.Unmarshal(w.Data, &e); err != nil {
			return Turn{}, err
		}
		t.PID, t.ExitCode, t.Signal, t.Error, t.Summary = e.PID, e.ExitCode, e.Signal, e.Error, e.Summary
	}
	return t, nil
}

// turnOfCommand returns the turn that a command led to, nil when it led to none.
func turnOfCommand(v *runs.View, command string) (*Turn, error) {
	in, err := inputOf(v)
	if err != nil {
		return nil, err
	}
	for _, w := range turns(v) {
		if w.CommandID == command {
			t, err := turnOf(v, in, w)
			return &t, err
		}
	}
	return nil, nil
}

// queued returns the message of a command that queues.
func (s *Sessions) queued(v *runs.View, c runs.CommandState) (Queued, error) {
	var a ask
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return Queued{}, err
	}
	text, err := a.whole(s.o.Store.Dir(v.RunID))
	return Queued{Session: v.RunID, Message: text, Variant: a.Variant, At: c.Received.UTC().Truncate(time.Millisecond)}, err
}

// view returns the run of a session that the owner may see.
func (s *Sessions) view(owner string, id runs.ID) (*runs.View, error) {
	v, err := s.o.Store.View(id)
	if fault.Is(err, fault.RunNotFound) || err == nil && (v.Kind != runs.Session || !runs.Sees(owner, v.Created.Owner)) {
		return nil, notFound(string(id))
	}
	return v, err
}

func notFound(name string) error {
	return fault.New(fault.SessionNotFound, "there is no session %.64q", name)
}
