// Package board keeps projects, their repositories, tasks, and attempts at them.
//
// An attempt is an agent at work on a task: a worktree and a branch of its own in each
// repository it needs, and a session (package agents/sessions) that runs in them. The
// rows are in one SQLite file, board.db, whose commits survive a power cut. What an
// agent does is in its session's journal, which alone is the truth about it; the board
// keeps a copy of the newest turn beside the attempt, so that lists need not read
// journals, and renews it when the journal has grown.
//
// # Starting
//
// An attempt is there as a whole or not at all. The intent is written first, with
// everything that is going to be made: ids, branches, folders. Then the worktrees are
// made, then the session is started under an id that the intent fixed, then one
// transaction says that the attempt is there, moves the task to inprogress and completes
// the idempotency key. Whoever starts holds a lease on the attempt, which the git
// programs share. If a start fails, what it made is undone; if its process dies, the next
// one that finds the intent and gets the lease goes forward when the session exists, else
// undoes it ([Board.Reconcile]).
//
// # The status of a task
//
// A turn that begins moves its task to inprogress, a turn that ends moves it from
// inprogress to inreview unless another attempt of the task is at work. Each turn does so
// once, when it is first seen, so that what a person sets afterwards stays. Nobody is
// called when a turn ends: whoever reads looks.
//
// # What is kept
//
// A worktree goes when nothing in it would be lost: see [Board.Clean].
package board

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/runs"
)

// Options are what a Board needs.
type Options struct {
	// Dir is the folder of board.db and of the worktrees, which is made if need be.
	Dir       string
	Git       *git.Git
	Sessions  Sessions
	Journals  Journals
	Executors Executors
	// Projects are those of the configuration, Root is the server's folder: the
	// repository that it is in is a project too, unless a project has it already.
	Projects []NewProject
	Root     string
	// Guard bounds what Changes and Patch show without force; changes.Balanced when zero.
	Guard changes.Guard
	Log   *slog.Logger
	Now   func() time.Time // the clock; time.Now when nil
}

// Board is a store of tasks. Its methods may be called concurrently, and several
// processes may have the same one open. Ids are UUIDs in their usual form; an id that is
// not there is PROJECT_NOT_FOUND, REPO_NOT_FOUND, TASK_NOT_FOUND or ATTEMPT_NOT_FOUND.
type Board struct {
	o       Options
	db      *sql.DB
	changes *changes.Reader
	known   known
}

// Ask says who makes a mutating request, and under which idempotency key. The same key,
// owner and tool with the same hash within [runs.KeyLife] gives the result of the first
// call again; with another hash it is IDEMPOTENCY_CONFLICT; while the first call is under
// way it is IDEMPOTENCY_IN_PROGRESS, retryable. A call that failed has freed its key.
type Ask = runs.Ask

// Project is a set of repositories with tasks.
type Project struct {
	ID        string
	Name      string
	Source    Source
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Source says where a project comes from.
type Source string

// The sources of projects.
const (
	FromConfig Source = "config" // [[projects]] of the configuration; the id depends on the name
	FromCLI    Source = "cli"    // gantry project add
	FromRoot   Source = "root"   // the repository of the server's folder; the id depends on the path
)

// NewProject is a project to add.
type NewProject struct {
	Name  string
	Repos []RepoAt
}

// RepoAt is a repository to add to a project.
type RepoAt struct {
	Path string // absolute, in a git repository
	Name string // the folder's when empty; unique in its project
}

// Repo is a repository of a project. Its id depends on its path, so it is the same in
// every project that has it.
type Repo struct {
	ID            string
	Name          string // the first part of paths in attempts; fit for a folder's name
	Path          string // absolute: the top of its main work tree
	DefaultBranch string // the branch that is checked out there, "" when detached or not readable
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Status is where a task stands.
type Status string

// The statuses of tasks, as they are on the wire.
const (
	Todo       Status = "todo"
	InProgress Status = "inprogress"
	InReview   Status = "inreview"
	Done       Status = "done"
	Cancelled  Status = "cancelled"
)

// Statuses returns every status, in the order of work.
func Statuses() []Status { return []Status{Todo, InProgress, InReview, Done, Cancelled} }

// Task is something to do in a project.
type Task struct {
	ID          string
	ProjectID   string
	Title       string
	Description string // may be empty
	Status      Status
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Attempts    AttemptSummary
}

// AttemptSummary is what a list of tasks says of the attempts of one. The latest is the
// most recently created; of several at one instant, the one with the least id.
type AttemptSummary struct {
	Count           int
	LatestAttemptID string // "" without an attempt, and so the next three
	LatestBranch    string
	LatestSessionID string
	LatestExecutor  string
	InProgress      bool // an agent works on one of them, or is being started
	LastFailed      bool // the latest one is in state failed
}

// NewTask is a task to make.
type NewTask struct {
	ProjectID   string
	Title       string // not blank, at most MaxTitle bytes
	Description string // at most MaxDescription bytes
	Status      Status // Todo when empty
}

// The limits of a task's texts, in bytes.
const (
	MaxTitle       = 1 << 10
	MaxDescription = 256 << 10
)

// TaskChange says what to change of a task; nil leaves it.
type TaskChange struct {
	Title       *string
	Description *string
	Status      *Status
}

// TaskFilter says which tasks of a project to list, newest first.
type TaskFilter struct {
	ProjectID string
	Status    Status // any when empty
	Limit     int    // DefaultTasks when 0, at most MaxPage
	Cursor    string // Next of the page before
}

// Sizes of pages.
const (
	DefaultTasks = 50
	MaxPage      = 200
)

// TaskPage is a piece of a list. Limit is the one that was applied.
type TaskPage struct {
	Tasks []Task
	Limit int
	Next  string // cursor of the next page, "" at the end
}

// Deleted says what became of a deleted task.
type Deleted struct {
	TaskID string
	// Kept are the attempts whose worktrees stay because they hold work that is nowhere
	// else: Clean removes them when it is not so any more.
	Kept []Cleaned
}

// State is where an attempt stands, by its newest turn.
type State string

// The states of attempts.
const (
	Idle      State = "idle"      // no turn yet
	Running   State = "running"   // a turn is under way
	Completed State = "completed" // the newest turn completed
	Failed    State = "failed"    // the newest turn failed, or was ended
)

// Attempt is an agent's work on a task.
type Attempt struct {
	ID        string
	TaskID    string
	Branch    string // of its worktrees
	Executor  string
	Variant   string // "" for the executor's default
	Dir       string // the agent's folder: the worktree, or the folder above several
	Repos     []AttemptRepo
	Cleaned   bool // the worktrees are gone, the branch may be there
	CreatedAt time.Time
	UpdatedAt time.Time // of the row, or of the newest turn if that is later

	SessionID      string // "" while the attempt is being started, and when the session is gone
	TurnID         string // the newest turn, "execution process" on the wire; "" without one
	State          State
	LastActivityAt *time.Time
	FailureSummary string // such as "failed (exit_code=3)"; set exactly in state failed
}

// AttemptRepo is a repository of an attempt.
type AttemptRepo struct {
	RepoID       string
	Name         string // the first part of its paths
	Worktree     string // absolute
	TargetBranch string
	BaseCommit   string // where the attempt's branch began

	path string // of the repository
}

// AttemptPage is a piece of the list of a task's attempts, newest first.
type AttemptPage struct {
	Attempts        []Attempt
	Count           int // of all attempts of the task
	LatestAttemptID string
	LatestSessionID string
	Next            string
}

// NewAttempt is an attempt to start.
type NewAttempt struct {
	TaskID   string
	Executor string // as in list_executors; case and dashes do not matter
	Variant  string
	Model    string
	Prompt   string // the task's title and description when empty
	Repos    []RepoTarget
}

// RepoTarget names a repository of the task's project, and the branch that the work is
// meant for and starts from: a local one, or else one of origin.
type RepoTarget struct {
	RepoID       string
	TargetBranch string
}

// Context is what a folder belongs to.
type Context struct {
	Project Project
	Task    Task
	Attempt Attempt
}

// Retention says which worktrees Clean considers.
type Retention struct {
	AttemptIDs []string      // these only; empty: all attempts of tasks that are done, cancelled or deleted
	Age        time.Duration // without AttemptIDs: whose last activity is older
	DryRun     bool          // only say what would be done
}

// DefaultAge is how long the worktrees of a finished task are kept untouched, unless
// somebody says otherwise.
const DefaultAge = 7 * 24 * time.Hour

// Cleaned says what became of an attempt's worktrees.
type Cleaned struct {
	AttemptID string
	Branch    string
	Removed   bool     // the worktrees and their folder are gone
	Branches  []string // names of the repositories whose branch is gone too: its commits are elsewhere
	Kept      []Kept   // why something stays
}

// Kept says why a worktree or a branch stays.
type Kept struct {
	Repo   string // "" for the attempt as a whole
	Reason KeptReason
}

// KeptReason is a word for programs.
type KeptReason string

// Why something is kept.
const (
	KeptRunning     KeptReason = "running"     // the agent is at work
	KeptUncommitted KeptReason = "uncommitted" // changes, or files that are neither tracked nor ignored
	KeptUnreachable KeptReason = "unreachable" // commits that no branch, tag or remote has
	KeptUnmerged    KeptReason = "unmerged"    // only the branch is kept: its commits are nowhere else
	KeptForeign     KeptReason = "foreign"     // files beside the worktrees
	KeptSubmodule   KeptReason = "submodule"   // a submodule that somebody filled: nobody looks into it
	KeptUnreadable  KeptReason = "unreadable"  // git could not say what is there
)

// Sessions is what the board needs of the agents' sessions, as [sessions.Sessions] has it.
type Sessions interface {
	// Start begins a session under the id of the request, once.
	Start(ctx context.Context, r sessions.StartRequest) (sessions.Session, error)
	// Stop ends the turn under way, if there is one, and returns when it is over.
	Stop(ctx context.Context, a sessions.Ask, id runs.ID, force bool) (sessions.Session, error)
	// Get returns a session, or SESSION_NOT_FOUND.
	Get(owner string, id runs.ID) (sessions.Session, error)
}

// Journals is what the board needs of [runs.Store].
type Journals interface {
	// Size returns the bytes of the journal of a run, 0 for a run that is not there.
	Size(id runs.ID) int64
}

// Executors is what the board needs of [agents.Registry].
type Executors interface {
	// Find returns the agent of a name.
	Find(name string) (agents.CLI, error)
}
