package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/db"
)

// migrations of telemetry.db. Times are nanoseconds since 1970; belongs is the run
// that a record is listed under, posted says that the record came from another program,
// more_json holds the members of [Details].
var migrations = []string{`
CREATE TABLE records (
	event_id       TEXT PRIMARY KEY,
	belongs        TEXT NOT NULL,
	run_id         TEXT NOT NULL,
	parent_run_id  TEXT NOT NULL,
	agent_name     TEXT NOT NULL,
	job_type       TEXT NOT NULL,
	start_ns       INTEGER NOT NULL,
	end_ns         INTEGER,
	duration_ms    INTEGER NOT NULL,
	status         TEXT NOT NULL,
	product        TEXT NOT NULL,
	error_summary  TEXT NOT NULL,
	output_summary TEXT NOT NULL,
	metrics_json   TEXT NOT NULL,
	context_json   TEXT NOT NULL,
	rebuilt        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX records_of_run ON records (belongs, start_ns, event_id);
CREATE INDEX records_by_time ON records (start_ns, event_id);
CREATE TABLE projections (
	run_id TEXT PRIMARY KEY,
	seq    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`, `
ALTER TABLE records ADD COLUMN created_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN posted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE records ADD COLUMN more_json TEXT NOT NULL DEFAULT '{}';
UPDATE records SET created_ns = start_ns;
CREATE INDEX records_by_creation ON records (created_ns, event_id);
`, claimTables}

const insertRecord = `INSERT INTO records
	(event_id, belongs, run_id, parent_run_id, agent_name, job_type, start_ns, end_ns, duration_ms, status, product,
	 error_summary, output_summary, metrics_json, context_json, rebuilt, created_ns)
	VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
	ON CONFLICT (event_id) DO `

const replaceRecord = `UPDATE SET belongs=excluded.belongs, run_id=excluded.run_id, parent_run_id=excluded.parent_run_id,
	job_type=excluded.job_type, start_ns=excluded.start_ns, end_ns=excluded.end_ns, duration_ms=excluded.duration_ms,
	status=excluded.status, product=excluded.product, error_summary=excluded.error_summary,
	output_summary=excluded.output_summary, metrics_json=excluded.metrics_json, context_json=excluded.context_json,
	rebuilt=excluded.rebuilt`

// A store is telemetry.db. It is opened at its first use; a failure to open is
// tried again at the next. Several processes may have it open.
type store struct {
	path   string
	counts bool // this process has metrics that somebody reads

	// forward gets what is written before it is committed: a crash between the two
	// forwards twice, and never not at all.
	forward Forwarder

	mu     sync.Mutex
	db     *sql.DB
	closed bool
}

var errStoreClosed = errors.New("the record store is closed")

func (s *store) open(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errStoreClosed
	}
	if s.db == nil {
		d, err := db.Open(ctx, s.path, db.Options{Synchronous: "NORMAL", Migrations: migrations})
		if err != nil {
			return nil, fmt.Errorf("open the record store: %w", err)
		}
		s.db = d
	}
	return s.db, nil
}

func (s *store) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.db == nil {
		return nil
	}
	d := s.db
	s.db = nil
	return d.Close()
}

// insert adds the records of calls, all or none. A record that is there already
// stays, unless it was rebuilt from a journal.
func (s *store) insert(ctx context.Context, records []Record) error {
	return s.update(ctx, func(tx *sql.Tx) error {
		written, err := put(ctx, tx, insertRecord+replaceRecord+" WHERE records.rebuilt = 1", records)
		if err == nil && !s.counts {
			err = leaveUncounted(ctx, tx, written)
		}
		if err == nil {
			s.forward.Forward(records)
		}
		return err
	})
}

// A projection is what the events of a run up to seq gave.
type projection struct {
	run     string
	seq     int64
	records []Record
	rebuilt []Record // of calls: written unless the call's own record is there
	commits []Commit // that were made of the run's work, in order
}

// project writes what a run's events gave, and remembers their sequence number. It
// returns the number that was remembered before, by whatever process.
func (s *store) project(ctx context.Context, p projection) (before int64, err error) {
	err = s.update(ctx, func(tx *sql.Tx) error {
		row := tx.QueryRowContext(ctx, `SELECT seq FROM projections WHERE run_id = ?`, p.run)
		if err := row.Scan(&before); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if before >= p.seq {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO projections (run_id, seq) VALUES (?, ?)
			ON CONFLICT (run_id) DO UPDATE SET seq = excluded.seq`, p.run, p.seq); err != nil {
			return err
		}
		written, err := put(ctx, tx, insertRecord+replaceRecord, p.records)
		if err != nil {
			return err
		}
		rebuilt, err := put(ctx, tx, insertRecord+replaceRecord+" WHERE records.rebuilt = 1", p.rebuilt)
		if err != nil {
			return err
		}
		s.forward.Forward(append(written, rebuilt...))
		return p.associate(ctx, tx, s.forward)
	})
	return before, err
}

// associate notes the run's commits at its record and at those of the parts that began
// before.
func (p projection) associate(ctx context.Context, tx *sql.Tx, to Forwarder) error {
	for _, c := range p.commits {
		rows, err := tx.QueryContext(ctx, `UPDATE records SET more_json = json_patch(more_json, ?)
			WHERE (event_id = ? OR parent_run_id = ?) AND start_ns <= ? RETURNING event_id`,
			string(mustJSON(c.details())), p.run, p.run, c.Time.UnixNano())
		if err != nil {
			return err
		}
		ids, err := texts(rows)
		if err != nil {
			return err
		}
		slices.Sort(ids)
		to.Associate(p.run, ids, c)
	}
	return nil
}

func texts(rows *sql.Rows) (out []string, err error) {
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (s *store) update(ctx context.Context, do func(*sql.Tx) error) error {
	d, err := s.open(ctx)
	if err != nil {
		return err
	}
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	if err := do(tx); err != nil {
		return errors.Join(fmt.Errorf("write records: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// put executes the statement for each record and returns those that it wrote.
func put(ctx context.Context, tx *sql.Tx, statement string, records []Record) (written []Record, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	stmt, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	for _, r := range records {
		done, err := stmt.ExecContext(ctx, r.EventID, r.belongs(), r.RunID, r.ParentRunID, r.AgentName, string(r.JobType),
			r.StartTime.UnixNano(), nanos(r.EndTime), r.DurationMS, string(r.Status), r.Product, r.ErrorSummary,
			r.OutputSummary, string(r.Metrics), string(r.Context), r.rebuilt, time.Now().UnixNano())
		if err != nil {
			return nil, err
		}
		if n, err := done.RowsAffected(); err == nil && n > 0 {
			written = append(written, r)
		}
	}
	return written, nil
}

// belongs is the run that the record is listed under.
func (r Record) belongs() string {
	if r.ParentRunID != "" {
		return r.ParentRunID
	}
	return r.RunID
}

func nanos(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UnixNano()
}
