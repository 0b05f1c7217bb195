// Package sessions keeps conversations with agents: it starts them, sends follow-ups,
// queues them, stops, resumes and archives, and tells how they are.
//
// A session is a run of kind session, and its id, a UUID, is the run's. Its workflow
// (specs/workflows/session.json) is a node that is visited once a turn: a prompt is
// given to an agent's command line (package agents), and what that writes is read to its
// end. Between turns the run is paused. So all that is promised of runs holds for
// sessions: what is acknowledged is in a synced journal; one program executes a session
// at a time, whichever; what another program asks is a command that it finds; and a program that dies is
// replaced by one that goes on.
//
// A turn is one process under the supervisor (package proc), with the turn's key, and
// kept: it does not end with the server, the client or the terminal. Whoever drives the
// session reads the process's output, turns it into entries and appends those to the
// session's history (package agents/entries). A driver that comes later reads the same output
// from the start and drops as many entries as are stored: decoders depend on their lines
// alone, so nothing is lost and nothing is there twice.
//
// Prompts are files in the run's folder, written before the event that speaks of them.
// Events hold how a prompt begins.
package sessions

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Options are what Sessions need.
type Options struct {
	Store      *runs.Store
	Engine     runs.Engine
	Supervisor *proc.Supervisor
	Agents     agents.Registry
	Dir        string // folder of the state of sessions beside their runs: "<state>/sessions"
	Now        func() time.Time
}

// Sessions is what can be asked of sessions. Its methods may be called concurrently, and
// by any number of programs on one state directory. owner, where there is one, is the
// caller's token, "" for a local caller; a session of another owner does not exist for a
// caller.
type Sessions struct{ o Options }

// New returns Sessions.
func New(o Options) *Sessions {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sessions{o}
}

// Ask says who makes a mutating request, and under which idempotency key.
type Ask struct {
	Owner  string
	Once   *runs.Once // the same key and hash get the first answer; another hash is IDEMPOTENCY_CONFLICT
	CallID string
	Tool   string
}

// StartRequest asks for a session and its first turn.
type StartRequest struct {
	Ask

	// ID is the session's, a UUID; empty for a fresh one. A second start of the same id
	// and the same request finds the first.
	ID runs.ID

	Executor string // an agent's name: [agents.Registry.Find]
	Variant  string // of the executor; empty for none
	Model    string // empty for the agent's own choice
	Prompt   string
	Title    string
	Dir      string // where the agent works: an absolute path of a folder
	// ConfigFile is the CLI's own configuration, absolute; empty for the usual one.
	ConfigFile string
	// Env is what the agent gets beside the usual, as NAME=value. It is recorded, so it
	// holds no secrets.
	Env []string
	// Labels are recorded with the run, such as the attempt that the session belongs to.
	Labels map[string]string

	// Thread is a conversation of the CLI's to go on with, which Gantry did not start.
	Thread string
	// View is the folder in which the files of package sessions' view are kept, absolute;
	// empty for none.
	View string
}

// State is how a session is.
type State string

// The states of a session.
const (
	Running  State = "RUNNING"  // a turn is under way
	Idle     State = "IDLE"     // its last turn has ended well, or was stopped
	Died     State = "DIED"     // its last turn has failed; it can be gone on with
	Archived State = "ARCHIVED" // it is over
)

// Session is one conversation.
type Session struct {
	ID         runs.ID
	Thread     string // what the CLI calls it; empty until it said so
	Title      string
	State      State
	Executor   string
	Variant    string // of the first turn
	Model      string
	Dir        string
	Labels     map[string]string
	Created    time.Time
	Updated    time.Time
	PID        int     // of the turn under way; 0 when there is none or not yet
	Turns      int     // how many there were
	Last       Turn    // the newest
	Queued     *Queued // the message that waits for the end of the turn; nil for none
	LastResult string  // the last that the agent said at the end of a turn, bounded
}

// TurnState is how a turn is.
type TurnState string

// The states of a turn.
const (
	TurnRunning   TurnState = "running"
	TurnCompleted TurnState = "completed"
	TurnFailed    TurnState = "failed"
	TurnKilled    TurnState = "killed" // it was stopped
)

// Turn is one prompt and what the agent did about it.
type Turn struct {
	ID       string // a UUID; the board calls it execution_process_id
	Index    int    // from 1
	State    TurnState
	Prompt   string // how it begins: at most [PreviewBytes]
	Variant  string
	PID      int       // 0 before it started
	ExitCode *int      // nil while it runs, and when it did not exit by itself
	Signal   string    // that ended it
	Started  time.Time // when it was asked for
	Ended    time.Time // zero while it runs
	Error    string    // why it failed, a sentence
	Summary  agents.Summary
}

// PreviewBytes is how much of a prompt and of a result is told with a session.
const PreviewBytes = 8000

// Queued is a message that waits for the end of a turn.
type Queued struct {
	Session runs.ID
	Message string
	Variant string
	At      time.Time
	// Turn is the turn that the message has become at once, since none was under way.
	Turn *Turn
}

// Start begins a session and returns when its first turn is recorded; the agent itself
// starts then. It is INVALID_INPUT for an empty prompt, a folder that is not there, and an
// executor or a variant that is not known. It is idempotent on the id and on the key.
func (s *Sessions) Start(ctx context.Context, r StartRequest) (Session, error) {
	return Session{}, unmade
}

// Send gives a session its next prompt and returns when the turn is recorded. While a turn
// is under way it is RUN_LOCKED, retryable: [Sessions.Queue] is for that. An archived
// session is ILLEGAL_STATE, an unknown one SESSION_NOT_FOUND.
func (s *Sessions) Send(ctx context.Context, a Ask, id runs.ID, prompt, variant string) (Turn, error) {
	return Turn{}, unmade
}

// Queue leaves a message that becomes a turn when the turn under way is complete; it is
// thrown away if that fails or is stopped. It replaces a message that waits. When no turn
// is under way it becomes one at once.
func (s *Sessions) Queue(ctx context.Context, a Ask, id runs.ID, prompt, variant string) (Queued, error) {
	return Queued{}, unmade
}

// Unqueue throws the message away that waits, if there is one.
func (s *Sessions) Unqueue(ctx context.Context, a Ask, id runs.ID) error { return unmade }

// Stop ends the turn under way and all that it started, and returns when it is over:
// SIGINT, SIGTERM, SIGKILL, some seconds apart; with force SIGKILL at once. A session
// without a turn under way is stopped already, and no error.
func (s *Sessions) Stop(ctx context.Context, a Ask, id runs.ID, force bool) (Session, error) {
	return Session{}, unmade
}

// Archive ends a session for good. While a turn is under way it is RUN_LOCKED, unless force
// says to stop that first. An archived session is archived already, and no error.
func (s *Sessions) Archive(ctx context.Context, a Ask, id runs.ID, force bool) (Session, error) {
	return Session{}, unmade
}

// Get returns a session, or SESSION_NOT_FOUND.
func (s *Sessions) Get(owner string, id runs.ID) (Session, error) { return Session{}, unmade }

// Find returns the session that is called so: by its id, or by the CLI's name of the
// conversation.
func (s *Sessions) Find(owner, name string) (Session, error) { return Session{}, unmade }

// Turns returns the turns of a session in their order.
func (s *Sessions) Turns(owner string, id runs.ID) ([]Turn, error) { return nil, unmade }

// Wait returns the session when enough is true of it, or fails when ctx ends.
func (s *Sessions) Wait(ctx context.Context, owner string, id runs.ID, enough func(Session) bool) (Session, error) {
	return Session{}, unmade
}

var unmade = fault.New(fault.Internal, "not there yet")
