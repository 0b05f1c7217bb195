package board

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/db"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Open opens the board, and makes its file if need be. Close it. No git is run and no
// project looked at before the first question, unless a start was cut off: see
// [Board.Reconcile].
func Open(ctx context.Context, o Options) (*Board, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Guard == (changes.Guard{}) {
		o.Guard = changes.Balanced()
	}
	for _, dir := range []string{"attempts", "leases"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the board: %w", err)
		}
	}
	real, err := filepath.EvalSymlinks(o.Dir) // as git names worktrees
	if err == nil {
		o.Dir, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	conn, err := db.Open(ctx, filepath.Join(o.Dir, "board.db"), db.Options{Synchronous: db.Full, Migrations: schema()})
	if errors.Is(err, db.ErrNewer) {
		return nil, fault.New(fault.StoreUnsupported, "the board was written by a newer version of this program").Because(err).
			WithHint("use that version, or another --state-dir")
	}
	if err != nil {
		return nil, err
	}
	b := &Board{o: o, db: conn, changes: changes.New(o.Git, o.Guard)}
	if err := b.Reconcile(ctx); err != nil {
		b.o.Log.Warn("half-made attempts could not be finished or undone; it is tried again", "error", err.Error())
	}
	return b, nil
}

// Close closes the file.
func (b *Board) Close() error { return b.db.Close() }

// now is the time as the file keeps it.
func (b *Board) now() int64 { return b.o.Now().UnixMicro() }

func timeOf(micro int64) time.Time { return time.UnixMicro(micro).UTC() }

// within runs do in a transaction that holds the file's write lock from its beginning, and
// commits when do returns no error.
func (b *Board) within(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return stored(err)
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return stored(err)
	}
	return stored(tx.Commit())
}

// stored makes STORE_FULL of a disk without room.
func stored(err error) error {
	if err != nil && db.NoRoom(err) {
		return fault.Retry(fault.StoreFull, "there is no room left in the state directory").Because(err)
	}
	return err
}

// querier is the file or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// collect reads the rows of a query, each by scan.
func collect[T any](ctx context.Context, q querier, scan func(row scanner) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, rows.Err()
}

// scanner is a row.
type scanner interface{ Scan(into ...any) error }

// newID returns a UUIDv7, which sorts by the time of its making.
func (b *Board) newID() string { return runs.NewUUID(b.o.Now()) }

// stableID returns the UUID that belongs to a name of a kind, on every machine: a digest of
// them, as a UUIDv8.
func stableID(kind, name string) string {
	sum := sha256.Sum256([]byte("gantry\x00" + kind + "\x00" + name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func absent(code fault.Code, what, id string) error {
	return fault.New(code, "there is no %s %.64q", what, id)
}

func limited(limit int) int { return min(cmp.Or(max(limit, 0), DefaultTasks), MaxPage) }
