package board

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Clean removes worktrees of attempts. This is the policy; docs/attempts.md has it for
// people:
//
//   - Considered are the attempts that are named, or else those of tasks that are done,
//     cancelled or deleted and in which nothing has happened for a while.
//   - An attempt whose agent is at work is kept.
//   - A worktree is kept, and with it the attempt's others, while it holds what would be
//     lost: a change that is not committed, a file that is neither tracked nor ignored, or a
//     checked-out commit that no branch, tag or branch of a remote has. Ignored files are
//     not kept: builds make them.
//   - A worktree with a submodule that somebody filled is kept.
//   - What git cannot tell about is kept, and so is what git itself refuses to remove
//     without force.
//   - The branch goes when each of its commits is in another branch, a tag or a branch of a
//     remote. Else it stays, and the commits with it, in the person's repository.
//   - The folder above several worktrees is kept when anything else is in it.
//
// There is no way to make it remove more. It returns what became of each attempt, oldest
// first; one that fails does not hold up the others.
func (b *Board) Clean(ctx context.Context, r Retention) ([]Cleaned, error) {
	rows, err := b.considered(ctx, r)
	if err != nil {
		return nil, err
	}
	var out []Cleaned
	for _, r0 := range rows {
		c, err := b.clean(ctx, r0, r.DryRun)
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	if r.DryRun {
		return out, nil
	}
	return out, b.purge(ctx)
}

func (b *Board) considered(ctx context.Context, r Retention) (rows []row, err error) {
	if len(r.AttemptIDs) > 0 {
		for _, id := range r.AttemptIDs {
			one, err := b.row(ctx, id)
			if err != nil {
				return nil, err
			}
			rows = append(rows, one)
		}
		return rows, nil
	}
	before := b.now() - r.Age.Microseconds()
	rows, err = collect(ctx, b.db, scanRow, rowColumns+` WHERE phase = ? AND max(updated_at, active_at) < ? AND EXISTS (SELECT 1 FROM tasks
		WHERE tasks.task_id = attempts.task_id AND (deleted_at IS NOT NULL OR status IN (?, ?))) ORDER BY created_at, attempt_id`,
		ready, before, Done, Cancelled)
	return rows, err
}

// clean does with one attempt what the policy says.
func (b *Board) clean(ctx context.Context, r row, dry bool) (Cleaned, error) {
	out := Cleaned{AttemptID: r.ID, Branch: r.Branch}
	lease, err := b.tryLease(r.ID)
	if err != nil {
		return out, err
	}
	if lease == nil {
		out.keep("", KeptRunning)
		return out, nil
	}
	defer func() { b.dropLease(r.ID); lease.Release() }()
	if r, err = b.again(ctx, r); err != nil {
		return out, err
	}
	switch {
	case r.phase == cleaned:
		out.Removed = true
		return out, nil
	case r.phase == starting || r.State == Running:
		out.keep("", KeptRunning)
		return out, nil
	}
	for _, t := range r.Repos {
		if reason := b.holds(ctx, t); reason != "" {
			out.keep(t.Name, reason)
		}
	}
	if len(out.Kept) > 0 {
		return out, ctx.Err()
	}
	for _, t := range r.Repos {
		b.cleanRepo(ctx, t, r.Branch, dry, &out)
	}
	return out, b.cleaned(ctx, r, dry, &out)
}

func (c *Cleaned) keep(repo string, reason KeptReason) { c.Kept = append(c.Kept, Kept{repo, reason}) }

// again reads an attempt anew, also one of a deleted task.
func (b *Board) again(ctx context.Context, r row) (row, error) {
	if _, err := b.follow(ctx, []row{r}); err != nil {
		return row{}, err
	}
	r, err := scanRow(b.db.QueryRowContext(ctx, rowColumns+` WHERE attempt_id = ?`, r.ID))
	if errors.Is(err, sql.ErrNoRows) {
		return row{}, absent(fault.AttemptNotFound, "attempt", r.ID)
	}
	one := []Attempt{r.Attempt}
	err = errors.Join(err, b.addRepos(ctx, one))
	r.Attempt = one[0]
	return r, err
}

// holds says what would be lost with a worktree, "" for nothing.
func (b *Board) holds(ctx context.Context, t AttemptRepo) KeptReason {
	trees, err := b.o.Git.Worktrees(ctx, t.path)
	if err != nil {
		return KeptUnreadable
	}
	head := ""
	for _, tree := range trees {
		if tree.Path == t.Worktree {
			head = tree.Head
		}
	}
	if _, err := os.Lstat(t.Worktree); err == nil {
		if reason := b.dirty(ctx, t.Worktree); reason != "" || head == "" {
			return cmp.Or(reason, KeptUnreadable)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return KeptUnreadable
	}
	if head == "" {
		return ""
	}
	switch n, err := b.o.Git.OnlyHere(ctx, t.path, head, ""); {
	case err != nil:
		return KeptUnreadable
	case n > 0:
		return KeptUnreachable
	}
	return ""
}

// dirty says what of a worktree's files would be lost, "" for nothing.
func (b *Board) dirty(ctx context.Context, worktree string) KeptReason {
	status, err := b.o.Git.Status(ctx, worktree)
	if err == nil && !status.Clean() {
		return KeptUncommitted
	}
	filled, failed := b.o.Git.Submodules(ctx, worktree)
	switch {
	case err != nil || failed != nil:
		return KeptUnreadable
	case len(filled) > 0:
		return KeptSubmodule
	}
	return ""
}

// cleanRepo removes a worktree that holds nothing, and the branch if it holds nothing.
func (b *Board) cleanRepo(ctx context.Context, t AttemptRepo, branch string, dry bool, out *Cleaned) {
	if !dry {
		if err := b.o.Git.RemoveWorktree(ctx, t.path, t.Worktree, false); err != nil {
			if _, there := os.Lstat(t.Worktree); there == nil {
				out.keep(t.Name, KeptUnreadable)
				return
			}
		}
	}
	if _, err := b.o.Git.Resolve(ctx, t.path, "refs/heads/"+branch); err != nil {
		return // somebody else has deleted it
	}
	n, err := b.o.Git.OnlyHere(ctx, t.path, "refs/heads/"+branch, branch)
	if err == nil && n == 0 && !dry {
		err = b.o.Git.DeleteBranch(ctx, t.path, branch)
	}
	switch {
	case err != nil:
		out.keep(t.Name, KeptUnreadable)
	case n > 0:
		out.keep(t.Name, KeptUnmerged)
	default:
		out.Branches = append(out.Branches, t.Name)
	}
}

// cleaned removes the folder above the worktrees, if nothing else is in it, and writes down
// that they are gone.
func (b *Board) cleaned(ctx context.Context, r row, dry bool, out *Cleaned) error {
	for _, t := range r.Repos {
		if _, err := os.Lstat(t.Worktree); err == nil && !dry {
			return nil // git would not remove it
		}
	}
	if foreign(b.folder(r.ID), r.Repos) {
		out.keep("", KeptForeign)
		return nil
	}
	if out.Removed = true; dry {
		return nil
	}
	if err := os.Remove(b.folder(r.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return b.within(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE attempts SET phase = ?, updated_at = ? WHERE attempt_id = ?`, cleaned, b.now(), r.ID)
		return err
	})
}

// foreign reports whether a folder holds anything besides the worktrees.
func foreign(dir string, repos []AttemptRepo) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	for _, entry := range entries {
		known := false
		for _, t := range repos {
			known = known || t.Name == entry.Name()
		}
		if !known {
			return true
		}
	}
	return false
}

// purge forgets the deleted tasks of which nothing is left, and keys that are too old.
func (b *Board) purge(ctx context.Context) error {
	return b.within(ctx, func(tx *sql.Tx) error {
		const gone = `SELECT task_id FROM tasks WHERE deleted_at IS NOT NULL AND NOT EXISTS
			(SELECT 1 FROM attempts WHERE attempts.task_id = tasks.task_id AND phase <> 'cleaned')`
		for _, query := range []string{`DELETE FROM attempts WHERE task_id IN (` + gone + `)`, `DELETE FROM tasks WHERE task_id IN (` + gone + `)`} {
			if _, err := tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM keys WHERE at <= ?`, b.now()-runs.KeyLife.Microseconds())
		return err
	})
}
