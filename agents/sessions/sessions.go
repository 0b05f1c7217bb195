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
	"log/slog"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Options are what Sessions need.
type Options struct {
	Store      *runs.Store
	Engine     runs.Engine // not needed by [Workers]
	Supervisor *proc.Supervisor
	Agents     agents.Registry
	Custom     []agents.Custom // the user's agents, of which a session remembers its own
	Entries    *entries.Store
	Dir        string   // folder of the state of sessions beside their runs: "<state>/sessions"
	Env        []string // the server's environment
	Now        func() time.Time
	Log        *slog.Logger
}

func (o Options) completed() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Entries == nil {
		o.Entries = entries.New(o.Dir)
	}
	return o
}

// Sessions is what can be asked of sessions. Its methods may be called concurrently, and
// by any number of programs on one state directory. owner, where there is one, is the
// caller's token, "" for a local caller; a session of another owner does not exist for a
// caller.
type Sessions struct{ o Options }

// New returns Sessions.
func New(o Options) *Sessions { return &Sessions{o.completed()} }

// Ask says who makes a mutating request, and under which idempotency key.
type Ask = runs.Ask

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

	// Under is a folder that Dir must be in; empty for anywhere.
	Under string
	// Thread is a conversation of the CLI's to go on with, which Gantry did not start.
	Thread string
	// View is the folder of a task store (package taskstore) in which the session's
	// files are kept as well, absolute; empty for none.
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
	Name       string // what the CLI called it first; the id until it said so, and for one that never does
	Thread     string // what the CLI calls it now; empty until it said so
	Title      string
	State      State
	Executor   string
	Variant    string // of the first turn
	Model      string
	Dir        string
	ConfigFile string
	Labels     map[string]string
	Created    time.Time
	Updated    time.Time
	PID        int     // of the turn under way; 0 when there is none or not yet
	Turns      int     // how many there were
	Last       Turn    // the newest
	Queued     *Queued // the message that waits for the end of the turn; nil for none
	LastResult string  // the last that the agent said at the end of a turn, bounded
	View       string  // folder of the task store that shows it; empty for none
	Archive    string  // where its files went when it was archived, relative to View; empty for nowhere
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
