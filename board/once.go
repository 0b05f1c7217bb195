package board

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// once runs do in a transaction that also keeps its result under the idempotency key, or
// returns the result that is kept.
func once[T any](ctx context.Context, b *Board, a Ask, do func(tx *sql.Tx) (T, error)) (result T, err error) {
	err = b.within(ctx, func(tx *sql.Tx) error {
		kept, attempt, err := b.lookUp(ctx, tx, a)
		switch {
		case err != nil:
			return err
		case kept != nil:
			return json.Unmarshal(kept, &result)
		case attempt != "":
			return underWay()
		}
		if result, err = do(tx); err != nil || a.Once == nil {
			return err
		}
		raw, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return b.claim(ctx, tx, a, raw, "")
	})
	return result, err
}

func underWay() error {
	return fault.Retry(fault.IdempotencyInProgress, "a call with this idempotency key is under way")
}

// lookUp returns what the key of the request has led to: its result, or the attempt that
// is being started under it; neither when the key is new or too old. Another request under
// the same key is IDEMPOTENCY_CONFLICT.
func (b *Board) lookUp(ctx context.Context, q querier, a Ask) (result []byte, attempt string, err error) {
	if a.Once == nil {
		return nil, "", nil
	}
	var hash string
	err = q.QueryRowContext(ctx, `SELECT hash, result, attempt_id FROM keys WHERE owner = ? AND tool = ? AND key = ? AND at > ?`,
		a.Owner, a.Tool, a.Once.Key, b.now()-runs.KeyLife.Microseconds()).Scan(&hash, &result, &attempt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, "", nil
	case err == nil && hash != a.Once.Hash:
		return nil, "", runs.ConflictingKey(a.Once.Key)
	}
	return result, attempt, err
}

// claim writes the key of the request, with its result or without one yet, and forgets
// those that are too old.
func (b *Board) claim(ctx context.Context, tx *sql.Tx, a Ask, result []byte, attempt string) error {
	if a.Once == nil {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM keys WHERE at <= ?`, b.now()-runs.KeyLife.Microseconds()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO keys (owner, tool, key, hash, result, attempt_id, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		a.Owner, a.Tool, a.Once.Key, a.Once.Hash, result, attempt, b.now())
	return err
}
