package board

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// row is an attempt as it is in the file.
type row struct {
	Attempt
	owner   string
	session runs.ID // the one that it has or is going to have
	phase   string
	seen    int64
	turn    sessions.TurnState
	settled string
}

const rowColumns = `SELECT attempt_id, task_id, branch, dir, executor, variant, owner, session_id, phase, created_at, updated_at,
	seen, turn_id, turn_state, failure, active_at, settled FROM attempts`

// The rare attempts, each by its index, which SQLite uses for a literal only.
const (
	rowsAtWork    = rowColumns + ` WHERE turn_state = 'running'`
	rowsOfTasks   = rowColumns + ` WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY task_id, created_at DESC, attempt_id`
	idsOfHalfMade = `SELECT attempt_id FROM attempts WHERE phase = 'starting' ORDER BY attempt_id`
)

func scanRow(s scanner) (r row, err error) {
	var created, updated, active int64
	err = s.Scan(&r.ID, &r.TaskID, &r.Branch, &r.Dir, &r.Executor, &r.Variant, &r.owner, &r.session, &r.phase, &created, &updated,
		&r.seen, &r.TurnID, &r.turn, &r.FailureSummary, &active, &r.settled)
	r.CreatedAt, r.UpdatedAt = timeOf(created), timeOf(max(updated, active))
	r.Cleaned = r.phase == cleaned
	if r.seen > 0 {
		r.SessionID = string(r.session)
	}
	if active > 0 {
		at := timeOf(active)
		r.LastActivityAt = &at
	}
	r.State = stateOf(r.turn)
	return r, err
}

func stateOf(turn sessions.TurnState) State {
	switch turn {
	case "":
		return Idle
	case sessions.TurnRunning:
		return Running
	case sessions.TurnCompleted:
		return Completed
	}
	return Failed
}

// follow brings the copies of the sessions of attempts up to date, and moves their tasks
// accordingly. It reads only the journals that have grown since they were last read. An
// attempt whose maker has died is finished or undone. It reports whether there was any of
// this, so that what the caller knows may be old.
func (b *Board) follow(ctx context.Context, rows []row) (changed bool, err error) {
	type news struct {
		row
		session sessions.Session
		size    int64
	}
	var all []news
	for _, r := range rows {
		if r.phase == starting {
			changed = b.tryRecover(ctx, r.ID) || changed
			continue
		}
		n := news{row: r, size: b.o.Journals.Size(r.session)}
		if n.size == r.seen {
			continue
		}
		if n.size > 0 {
			n.session, err = b.o.Sessions.Get(r.owner, r.session)
		}
		if fault.Is(err, fault.SessionNotFound) {
			n.size, err = 0, nil
		}
		if err != nil { // the copy is all that is known
			b.o.Log.Warn("the session of an attempt cannot be read", "attempt", r.ID, "error", err.Error())
			err = nil
			continue
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return changed, nil
	}
	return true, b.within(ctx, func(tx *sql.Tx) error {
		for _, n := range all {
			if err := b.copyTurn(ctx, tx, n.row, n.session, n.size); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyTurn writes what is to be known of the newest turn beside the attempt, unless
// somebody else has meanwhile, and moves the task. size is that of the journal which the
// session was read from, or an older one.
func (b *Board) copyTurn(ctx context.Context, tx *sql.Tx, r row, s sessions.Session, size int64) error {
	t := s.Last
	active := micro(latest(t.Ended, s.Updated))
	if size == 0 {
		t, active = sessions.Turn{}, 0
	}
	done, err := tx.ExecContext(ctx, `UPDATE attempts SET seen = ?, turn_id = ?, turn_state = ?, failure = ?, active_at = ? WHERE attempt_id = ? AND seen = ?`,
		size, t.ID, t.State, failure(t), active, r.ID, r.seen)
	if err != nil || t.ID == "" {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if t.ID != r.TurnID {
		if err := b.begun(ctx, tx, r.TaskID, t.Started); err != nil {
			return err
		}
	}
	if t.State == sessions.TurnRunning || t.ID == r.settled {
		return nil
	}
	return b.ended(ctx, tx, r, t)
}

// begun moves a task for a turn that has begun.
func (b *Board) begun(ctx context.Context, tx *sql.Tx, taskID string, at time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET status = ?, updated_at = max(updated_at, ?) WHERE task_id = ? AND status <> ?`,
		InProgress, micro(at), taskID, InProgress)
	return err
}

// ended moves a task for a turn that has ended, unless another attempt is at work.
func (b *Board) ended(ctx context.Context, tx *sql.Tx, r row, t sessions.Turn) error {
	if _, err := tx.ExecContext(ctx, `UPDATE attempts SET settled = ? WHERE attempt_id = ?`, t.ID, r.ID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE tasks SET status = ?, updated_at = max(updated_at, ?) WHERE task_id = ? AND status = ?
		AND NOT EXISTS (SELECT 1 FROM attempts WHERE task_id = tasks.task_id AND turn_state = ?)`,
		InReview, micro(t.Ended), r.TaskID, InProgress, sessions.TurnRunning)
	return err
}

// failure says why a turn failed, empty when it did not.
func failure(t sessions.Turn) string {
	switch {
	case t.State == sessions.TurnKilled:
		return "killed"
	case t.State != sessions.TurnFailed:
		return ""
	case t.ExitCode != nil && *t.ExitCode != 0:
		return fmt.Sprintf("failed (exit_code=%d)", *t.ExitCode)
	case t.Signal != "":
		return fmt.Sprintf("failed (signal=%s)", t.Signal)
	case t.Error != "":
		return "failed: " + t.Error
	}
	return "failed"
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// rowsOf returns the attempts at tasks, by task, then in the order of lists.
func (b *Board) rowsOf(ctx context.Context, q querier, taskIDs ...string) ([]row, error) {
	if len(taskIDs) == 0 {
		return nil, nil
	}
	return collect(ctx, q, scanRow, rowsOfTasks, list(taskIDs))
}
