package board

import (
	"context"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
)

var unmade = fault.New(fault.Internal, "not there yet")

// Open opens the board, and makes its file if need be. Close it.
func Open(ctx context.Context, o Options) (*Board, error) { return nil, unmade }

// Close closes the file.
func (b *Board) Close() error { return unmade }

// Projects returns the projects by name, the id as tie-break: those of the configuration,
// those that were added, the root's, and any other that has tasks.
func (b *Board) Projects(ctx context.Context) ([]Project, error) { return nil, unmade }

// Project returns a project.
func (b *Board) Project(ctx context.Context, id string) (Project, error) { return Project{}, unmade }

// AddProject adds a project. A name that another one has, a repository that is none, or
// two of one name are INVALID_INPUT.
func (b *Board) AddProject(ctx context.Context, a Ask, p NewProject) (Project, error) {
	return Project{}, unmade
}

// Repos returns the repositories of a project by name.
func (b *Board) Repos(ctx context.Context, projectID string) ([]Repo, error) { return nil, unmade }

// CreateTask makes a task.
func (b *Board) CreateTask(ctx context.Context, a Ask, t NewTask) (Task, error) {
	return Task{}, unmade
}

// Task returns a task with the summary of its attempts.
func (b *Board) Task(ctx context.Context, id string) (Task, error) { return Task{}, unmade }

// Tasks returns a page of the tasks of a project, newest first, the id as tie-break. A
// cursor of another list or filter is INVALID_CURSOR.
func (b *Board) Tasks(ctx context.Context, f TaskFilter) (TaskPage, error) { return TaskPage{}, unmade }

// UpdateTask changes a task.
func (b *Board) UpdateTask(ctx context.Context, a Ask, id string, c TaskChange) (Task, error) {
	return Task{}, unmade
}

// DeleteTask takes a task off the board, and the worktrees of its attempts that hold no
// work that is nowhere else. While an agent works on it, it is ATTEMPT_RUNNING.
func (b *Board) DeleteTask(ctx context.Context, a Ask, id string) (Deleted, error) {
	return Deleted{}, unmade
}

// Attempts returns a page of the attempts at a task: the newest first, of several at one
// instant the least id first. limit 0 means DefaultTasks.
func (b *Board) Attempts(ctx context.Context, taskID string, limit int, cursor string) (AttemptPage, error) {
	return AttemptPage{}, unmade
}

// Attempt returns an attempt, its state read from its session.
func (b *Board) Attempt(ctx context.Context, id string) (Attempt, error) { return Attempt{}, unmade }

// AttemptOf returns the attempt that a session belongs to, or ATTEMPT_NOT_FOUND.
func (b *Board) AttemptOf(ctx context.Context, sessionID string) (Attempt, error) {
	return Attempt{}, unmade
}

// Session returns the id of the newest session of an attempt, or NO_SESSION_YET.
func (b *Board) Session(ctx context.Context, attemptID string) (string, error) { return "", unmade }

// StartAttempt makes the worktrees and starts the agent. When it fails, nothing is left:
// no row, no folder, no branch, and the task is as it was. It is INVALID_INPUT for a
// repository that the project does not have or that is named twice, EXECUTOR_UNAVAILABLE
// for an agent that is not known, REF_NOT_FOUND for a target branch.
func (b *Board) StartAttempt(ctx context.Context, a Ask, n NewAttempt) (Attempt, error) {
	return Attempt{}, unmade
}

// StopAttempt ends the turn that is under way and returns when it is over: gently, or with
// force at once. An attempt that does not run is stopped already, and no error.
func (b *Board) StopAttempt(ctx context.Context, a Ask, id string, force bool) (Attempt, error) {
	return Attempt{}, unmade
}

// Context returns what a folder belongs to, or NO_CONTEXT when it is in no worktree of an
// attempt.
func (b *Board) Context(ctx context.Context, dir string) (Context, error) { return Context{}, unmade }

// Changes returns what an attempt changed: see [changes.Reader.List]. An attempt whose
// worktrees are gone is WORKSPACE_GONE, and so below.
func (b *Board) Changes(ctx context.Context, attemptID string, force bool) (changes.List, error) {
	return changes.List{}, unmade
}

// Patch returns the changes of paths of an attempt: see [changes.Reader.Patch].
func (b *Board) Patch(ctx context.Context, attemptID string, q changes.PatchRequest) (changes.Patch, error) {
	return changes.Patch{}, unmade
}

// File returns a piece of a file of an attempt: see [changes.Reader.File].
func (b *Board) File(ctx context.Context, attemptID string, q changes.FileRequest) (changes.File, error) {
	return changes.File{}, unmade
}

// Clean removes worktrees, by the policy that is written at its definition.
func (b *Board) Clean(ctx context.Context, r Retention) ([]Cleaned, error) { return nil, unmade }

// Reconcile finishes or undoes what a process that died has left half-made. Call it at the
// start of a server. It leaves alone what another process is at.
func (b *Board) Reconcile(ctx context.Context) error { return unmade }
