package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// What can be claimed. What goes with the records is claimed by writing them.
const (
	claimSpans   = "spans"
	claimMetrics = "metrics"
	withRecords  = "records"
)

// claimTables are the tables of claims: exports says since when somebody exports what;
// claims up to which event of a run that was done; uncounted which calls were made in
// processes whose metrics nobody reads.
const claimTables = `
CREATE TABLE exports (
	what     TEXT PRIMARY KEY,
	since_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE claims (
	what   TEXT NOT NULL,
	run_id TEXT NOT NULL,
	seq    INTEGER NOT NULL,
	PRIMARY KEY (what, run_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE uncounted (
	event_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
`

// claims see to it that what happened leaves once, whichever of the processes on a
// state directory it happened in. A process that nobody gets spans or metrics from claims
// nothing: it leaves that to one that does. What happened before anybody ever exported is
// history, and is not exported.
type claims struct {
	t *Telemetry

	mu    sync.Mutex
	since map[string]time.Time         // by what
	marks map[string]map[runs.ID]int64 // when there is no store
}

func newClaims(t *Telemetry) *claims {
	return &claims{t: t, since: map[string]time.Time{}, marks: map[string]map[runs.ID]int64{claimSpans: {}, claimMetrics: {}, withRecords: {}}}
}

// wants reports whether somebody gets this from this process.
func (c *claims) wants(what string) bool {
	if what == claimSpans {
		return len(c.t.opts.SpanProcessors) > 0
	}
	return len(c.t.opts.MetricReaders) > 0
}

// begun returns since when this is exported, from this state directory.
func (c *claims) begun(ctx context.Context, what string) (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.since[what]; known {
		return at, nil
	}
	at := c.t.opened
	if c.t.store != nil {
		var ns int64
		err := c.t.store.update(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO exports (what, since_ns) VALUES (?, ?) ON CONFLICT DO NOTHING`, what, at.UnixNano()); err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `SELECT since_ns FROM exports WHERE what = ?`, what).Scan(&ns)
		})
		if err != nil {
			return time.Time{}, err
		}
		at = time.Unix(0, ns)
	}
	c.since[what] = at
	return at, nil
}

// claim makes the events of a run up to seq this process's to export, and returns up to
// which one they were somebody's before.
func (c *claims) claim(ctx context.Context, what string, run runs.ID, seq int64) (before int64, err error) {
	if c.t.store == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		before = c.marks[what][run]
		c.marks[what][run] = max(before, seq)
		return before, nil
	}
	err = c.t.store.update(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, `SELECT seq FROM claims WHERE what = ? AND run_id = ?`, what, string(run))
		if err := row.Scan(&before); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if before >= seq {
			return nil
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO claims (what, run_id, seq) VALUES (?, ?, ?)
			ON CONFLICT (what, run_id) DO UPDATE SET seq = excluded.seq`, what, string(run), seq)
		return err
	})
	return before, err
}

// leaveUncounted leaves calls to be counted by a process that exports metrics, if there
// ever was one.
func leaveUncounted(ctx context.Context, tx *sql.Tx, calls []Record) error {
	for _, r := range calls {
		if _, err := tx.ExecContext(ctx, `INSERT INTO uncounted (event_id) SELECT ? WHERE EXISTS (SELECT 1 FROM exports WHERE what = ?)
			ON CONFLICT DO NOTHING`, r.EventID, claimMetrics); err != nil {
			return err
		}
	}
	return nil
}

// takeUncounted returns calls that were left, at most limit, and forgets them.
func (s *store) takeUncounted(ctx context.Context, limit int) (out []Record, err error) {
	d, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	var any bool // looking holds up nobody who writes
	if err := d.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM uncounted)`).Scan(&any); err != nil || !any {
		return nil, err
	}
	err = s.update(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `DELETE FROM uncounted WHERE event_id IN (SELECT event_id FROM uncounted LIMIT ?) RETURNING event_id`, limit)
		if err != nil {
			return err
		}
		ids, err := texts(rows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			found, err := recordOf(ctx, tx, id)
			if err != nil {
				return err
			}
			out = append(out, found...)
		}
		return nil
	})
	return out, err
}

// recordOf returns the record of an id, or none.
func recordOf(ctx context.Context, tx *sql.Tx, id string) (out []Record, err error) {
	rows, err := tx.QueryContext(ctx, selectRecords+`event_id = ?`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
