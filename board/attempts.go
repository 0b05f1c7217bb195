package board

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Attempts returns a page of the attempts at a task: the newest first, of several at one
// instant the least id first. limit 0 means DefaultTasks.
func (b *Board) Attempts(ctx context.Context, taskID string, limit int, cursor string) (AttemptPage, error) {
	from, err := place(cursor, "attempts", taskID)
	if err != nil {
		return AttemptPage{}, err
	}
	if _, err := b.Task(ctx, taskID); err != nil {
		return AttemptPage{}, err
	}
	rows, err := b.rowsOf(ctx, b.db, taskID)
	if err != nil {
		return AttemptPage{}, err
	}
	page := AttemptPage{Count: len(rows)}
	if len(rows) > 0 {
		page.LatestAttemptID, page.LatestSessionID = rows[0].ID, rows[0].SessionID
	}
	limit = limited(limit)
	for _, r := range rows {
		if from.id != "" && !from.before(r) {
			continue
		}
		if len(page.Attempts) == limit {
			last := page.Attempts[limit-1]
			page.Next = after{micro(last.CreatedAt), last.ID}.cursor("attempts", taskID)
			break
		}
		page.Attempts = append(page.Attempts, r.Attempt)
	}
	return page, b.addRepos(ctx, page.Attempts)
}

// before reports whether the place is before the attempt.
func (p after) before(r row) bool {
	at := micro(r.CreatedAt)
	return at < p.at || at == p.at && r.ID > p.id
}

// addRepos reads the repositories of attempts.
func (b *Board) addRepos(ctx context.Context, attempts []Attempt) error {
	at := map[string]int{}
	var ids []string
	for i, a := range attempts {
		at[a.ID] = i
		ids = append(ids, a.ID)
	}
	_, err := collect(ctx, b.db, func(s scanner) (none struct{}, err error) {
		var id string
		var r AttemptRepo
		err = s.Scan(&id, &r.RepoID, &r.Name, &r.Worktree, &r.TargetBranch, &r.BaseCommit, &r.path)
		attempts[at[id]].Repos = append(attempts[at[id]].Repos, r)
		return none, err
	}, `SELECT attempt_id, repo_id, name, worktree, target, base, path FROM attempt_repos
		WHERE attempt_id IN (SELECT value FROM json_each(?)) ORDER BY attempt_id, position`, list(ids))
	return err
}

// Attempt returns an attempt, its state read from its session.
func (b *Board) Attempt(ctx context.Context, id string) (Attempt, error) {
	r, err := b.row(ctx, id)
	return r.Attempt, err
}

// row returns an attempt as it is now.
func (b *Board) row(ctx context.Context, id string) (row, error) {
	r, err := b.rowAsKept(ctx, b.db, id)
	if err != nil {
		return row{}, err
	}
	if changed, err := b.follow(ctx, []row{r}); err != nil {
		return row{}, err
	} else if changed {
		if r, err = b.rowAsKept(ctx, b.db, id); err != nil {
			return row{}, err
		}
	}
	one := []Attempt{r.Attempt}
	err = b.addRepos(ctx, one)
	r.Attempt = one[0]
	return r, err
}

// rowAsKept returns what the file says of an attempt, without its repositories. The
// attempts of a deleted task are nobody's.
func (b *Board) rowAsKept(ctx context.Context, q querier, id string) (row, error) {
	r, err := scanRow(q.QueryRowContext(ctx, rowColumns+` WHERE attempt_id = ?
		AND EXISTS (SELECT 1 FROM tasks WHERE tasks.task_id = attempts.task_id AND deleted_at IS NULL)`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = absent(fault.AttemptNotFound, "attempt", id)
	}
	return r, err
}

// AttemptOf returns the attempt that a session belongs to, or ATTEMPT_NOT_FOUND.
func (b *Board) AttemptOf(ctx context.Context, sessionID string) (Attempt, error) {
	var id string
	err := b.db.QueryRowContext(ctx, `SELECT attempt_id FROM attempts WHERE session_id = ?`, sessionID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return Attempt{}, fault.New(fault.AttemptNotFound, "the session %.64q belongs to no attempt", sessionID)
	}
	if err != nil {
		return Attempt{}, err
	}
	return b.Attempt(ctx, id)
}

// Session returns the id of the newest session of an attempt, or NO_SESSION_YET.
func (b *Board) Session(ctx context.Context, attemptID string) (string, error) {
	a, err := b.Attempt(ctx, attemptID)
	if err == nil && a.SessionID == "" {
		err = noSession()
	}
	return a.SessionID, err
}

func noSession() error {
	return fault.Retry(fault.NoSessionYet, "the attempt has no session yet")
}

// StopAttempt ends the turn that is under way and returns when it is over: gently, or with
// force at once. An attempt that does not run is stopped already, and no error.
func (b *Board) StopAttempt(ctx context.Context, a Ask, id string, force bool) (Attempt, error) {
	r, err := b.row(ctx, id)
	if err == nil && r.SessionID == "" {
		err = noSession()
	}
	if err != nil {
		return Attempt{}, err
	}
	if _, err := b.o.Sessions.Stop(ctx, sessions.Ask(a), runs.ID(r.SessionID), force); err != nil {
		return Attempt{}, err
	}
	return b.Attempt(ctx, id)
}

// Context returns what a folder belongs to, or NO_CONTEXT when it is in no worktree of an
// attempt.
func (b *Board) Context(ctx context.Context, dir string) (Context, error) {
	none := fault.New(fault.NoContext, "the folder belongs to no attempt")
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Context{}, none
	}
	rel, err := filepath.Rel(filepath.Join(b.o.Dir, "attempts"), real)
	id, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	if err != nil || !runs.IsUUID(id) {
		return Context{}, none
	}
	var c Context
	if c.Attempt, err = b.Attempt(ctx, id); err == nil {
		c.Task, err = b.Task(ctx, c.Attempt.TaskID)
	}
	if err == nil {
		c.Project, err = b.Project(ctx, c.Task.ProjectID)
	}
	if fault.Is(err, fault.AttemptNotFound) || fault.Is(err, fault.TaskNotFound) {
		return Context{}, none
	}
	return c, err
}

// Changes returns what an attempt changed: see [changes.Reader.List]. An attempt whose
// worktrees are gone is WORKSPACE_GONE, and so it is for Patch and File.
func (b *Board) Changes(ctx context.Context, attemptID string, force bool) (changes.List, error) {
	trees, err := b.worktrees(ctx, attemptID)
	if err != nil {
		return changes.List{}, err
	}
	return b.changes.List(ctx, trees, force)
}

// Patch returns the changes of paths of an attempt: see [changes.Reader.Patch].
func (b *Board) Patch(ctx context.Context, attemptID string, q changes.PatchRequest) (changes.Patch, error) {
	trees, err := b.worktrees(ctx, attemptID)
	if err != nil {
		return changes.Patch{}, err
	}
	return b.changes.Patch(ctx, trees, q)
}

// File returns a piece of a file of an attempt: see [changes.Reader.File].
func (b *Board) File(ctx context.Context, attemptID string, q changes.FileRequest) (changes.File, error) {
	trees, err := b.worktrees(ctx, attemptID)
	if err != nil {
		return changes.File{}, err
	}
	return b.changes.File(ctx, trees, q)
}

// worktrees returns the worktrees of an attempt.
func (b *Board) worktrees(ctx context.Context, attemptID string) ([]changes.Worktree, error) {
	r, err := b.row(ctx, attemptID)
	if err != nil {
		return nil, err
	}
	if r.phase == starting {
		return nil, fault.Retry(fault.AttemptRunning, "the worktrees of the attempt are being made")
	}
	var trees []changes.Worktree
	for _, t := range r.Repos {
		if _, err := os.Lstat(t.Worktree); r.Cleaned || errors.Is(err, os.ErrNotExist) {
			return nil, fault.New(fault.WorkspaceGone, "the worktrees of the attempt are gone").
				WithHint("its branch %s may still be in the repository; start another attempt with start_task_attempt", r.Branch)
		}
		trees = append(trees, changes.Worktree{Name: t.Name, Dir: t.Worktree, Target: t.TargetBranch, Base: t.BaseCommit})
	}
	return trees, nil
}
