package board

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
)

// Reconcile finishes or undoes the attempts that a process has left half-made, and leaves
// alone those that another one is making. Open does it, and so does whoever reads such an
// attempt. An attempt that cannot be dealt with does not hold up the others; the error joins
// what went wrong.
func (b *Board) Reconcile(ctx context.Context) error {
	ids, err := collect(ctx, b.db, func(s scanner) (id string, err error) { return id, s.Scan(&id) },
		idsOfHalfMade)
	for _, id := range ids {
		_, failed := b.recover(ctx, id)
		err = errors.Join(err, failed)
	}
	return err
}

// tryRecover is recover for a reader, who goes on with what there is when it fails.
func (b *Board) tryRecover(ctx context.Context, id string) bool {
	done, err := b.recover(ctx, id)
	if err != nil {
		b.o.Log.Warn("a half-made attempt could not be finished or undone; it is tried again", "attempt", id, "error", err.Error())
	}
	return done
}

// recover finishes or undoes an attempt whose maker has died: it goes forward when there is
// a session, since an agent may be at work. While somebody has the lease nothing is done,
// and done is false.
func (b *Board) recover(ctx context.Context, id string) (done bool, err error) {
	lease, err := b.tryLease(id)
	if lease == nil || err != nil {
		return false, err
	}
	defer lease.Release()
	ctx = context.WithoutCancel(ctx)
	r, err := scanRow(b.db.QueryRowContext(ctx, rowColumns+` WHERE attempt_id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) || err == nil && r.phase != starting { // somebody was faster
		b.dropLease(id)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	one := []Attempt{r.Attempt}
	if err := b.addRepos(ctx, one); err != nil {
		return false, err
	}
	r.Attempt = one[0]
	if b.o.Journals.Size(r.session) > 0 {
		_, err = b.finish(ctx, r)
	} else {
		err = b.undo(ctx, b.o.Git.Leasing(lease), r)
	}
	return err == nil, err
}

// dropLease removes the file of a lease that nobody needs any more. Whoever finds the file
// gone makes a new one, and finds in the attempt's row that there is nothing to do.
func (b *Board) dropLease(id string) {
	if err := os.Remove(b.leaseFile(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		b.o.Log.Warn("the file of a lease stays", "attempt", id, "error", err.Error())
	}
}

// errTaken is why a lease is not waited for.
var errTaken = errors.New("board: somebody has the lease")

// tryLease takes the lease of an attempt, or returns nil when somebody has it.
func (b *Board) tryLease(id string) (*proc.Lease, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errTaken)
	lease, err := proc.TakeLease(ctx, b.leaseFile(id), false)
	if errors.Is(err, errTaken) {
		return nil, nil
	}
	return lease, err
}

// undo removes what was made of an attempt whose agent was never started, then its row and
// its key. It may be called again when it failed.
func (b *Board) undo(ctx context.Context, g *git.Git, r row) error {
	for _, t := range r.Repos {
		if err := undoRepo(ctx, g, t, r.Branch); err != nil && !errors.Is(err, os.ErrNotExist) { // the repository is gone
			return err
		}
	}
	if err := os.RemoveAll(b.folder(r.ID)); err != nil {
		return err
	}
	err := b.within(ctx, func(tx *sql.Tx) error {
		for _, query := range []string{`DELETE FROM keys WHERE attempt_id = ?`, `DELETE FROM attempts WHERE attempt_id = ?`} {
			if _, err := tx.ExecContext(ctx, query, r.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		b.dropLease(r.ID)
	}
	return err
}

// undoRepo removes the worktree, and the branch if it is where we made it: nobody else has
// given it a commit.
func undoRepo(ctx context.Context, g *git.Git, t AttemptRepo, branch string) error {
	if err := g.RemoveWorktree(ctx, t.path, t.Worktree, true); err != nil {
		return err
	}
	at, err := g.Resolve(ctx, t.path, "refs/heads/"+branch)
	if fault.Is(err, fault.RefNotFound) || err == nil && at != t.BaseCommit {
		return nil
	}
	if err != nil {
		return err
	}
	return g.DeleteBranch(ctx, t.path, branch)
}
