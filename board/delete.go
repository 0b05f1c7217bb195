package board

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
)

// DeleteTask takes a task off the board, with its attempts, and removes the worktrees that
// hold nothing which would be lost: see [Board.Clean]. While an agent is at work on it, it
// is ATTEMPT_RUNNING.
func (b *Board) DeleteTask(ctx context.Context, a Ask, id string) (Deleted, error) {
	if kept, _, err := b.lookUp(ctx, b.db, a); err != nil || kept != nil {
		var done Deleted
		if err == nil {
			err = json.Unmarshal(kept, &done)
		}
		return done, err
	}
	if _, err := b.Task(ctx, id); err != nil {
		return Deleted{}, err
	}
	rows, err := b.rowsOf(ctx, b.db, id)
	if err != nil {
		return Deleted{}, err
	}
	out := Deleted{TaskID: id}
	for _, r := range rows {
		c, err := b.clean(ctx, r, true)
		if err != nil {
			return Deleted{}, err
		}
		if !c.Removed {
			out.Kept = append(out.Kept, c)
		}
	}
	done, err := once(ctx, b, a, func(tx *sql.Tx) (Deleted, error) { return out, b.markDeleted(ctx, tx, id) })
	if err != nil {
		return Deleted{}, err
	}
	// The task is deleted, whatever comes now: what stays, Clean removes another time.
	for _, r := range rows {
		if _, err := b.clean(ctx, r, false); err != nil {
			b.o.Log.Warn("the worktrees of a deleted task stay", "attempt", r.ID, "error", err.Error())
		}
	}
	if err := b.purge(ctx); err != nil {
		b.o.Log.Warn("a deleted task could not be forgotten", "task", id, "error", err.Error())
	}
	return done, nil
}

func (b *Board) markDeleted(ctx context.Context, tx *sql.Tx, id string) error {
	if _, err := b.task(ctx, tx, id); err != nil {
		return err
	}
	var busy bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM attempts WHERE task_id = ? AND (phase = ? OR turn_state = ?))`,
		id, starting, sessions.TurnRunning).Scan(&busy)
	if err == nil && busy {
		err = fault.Retry(fault.AttemptRunning, "an agent is at work on the task")
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE tasks SET deleted_at = ? WHERE task_id = ?`, b.now(), id)
	return err
}
