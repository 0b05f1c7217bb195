package telemetry

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Query says which records to read.
type Query struct {
	RunID  string // records of this run and of its parts; empty means all
	Limit  int    // 1 to 1000; 0 means 50
	Cursor string // NextCursor of the page before; empty means the first page
}

// Page is one page of records, the newest first.
type Page struct {
	Records    []Record `json:"records"`
	Summary    Summary  `json:"summary"`
	NextCursor string   `json:"next_cursor,omitempty"` // empty on the last page
}

// Summary counts all records that a query selects, whatever the page.
type Summary struct {
	Total      int            `json:"total"`
	ByJobType  map[string]int `json:"by_job_type"`
	ByStatus   map[string]int `json:"by_status"`
	DurationMS int64          `json:"duration_ms"` // sum over the records; parts count besides their whole
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// Records returns a page of records, newest first and by event id where the times
// are equal, the ones queued so far included. A cursor that did not come from a
// page of the same query is INVALID_CURSOR. Without a record store there are none.
func (t *Telemetry) Records(ctx context.Context, q Query) (Page, error) {
	page := Page{Records: []Record{}, Summary: Summary{ByJobType: map[string]int{}, ByStatus: map[string]int{}}}
	at, err := parseCursor(q)
	if err != nil || t.store == nil {
		return page, err
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	if err := t.queue.flush(ctx); err != nil {
		return page, err
	}
	d, err := t.store.open(ctx)
	if err != nil {
		return page, err
	}
	tx, err := d.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return page, fmt.Errorf("read records: %w", err)
	}
	err = errors.Join(page.fill(ctx, tx, q, at), page.summarize(ctx, tx, q), tx.Rollback())
	return page, err
}

const selectRecords = `SELECT event_id, run_id, parent_run_id, agent_name, job_type, start_ns, end_ns, duration_ms, status,
	product, error_summary, output_summary, metrics_json, context_json FROM records WHERE `

func (p *Page) fill(ctx context.Context, tx *sql.Tx, q Query, at cursor) error {
	where, args := q.where()
	if q.Cursor != "" {
		where += ` AND (start_ns, event_id) < (?, ?)`
		args = append(args, at.StartNS, at.EventID)
	}
	rows, err := tx.QueryContext(ctx, selectRecords+where+` ORDER BY start_ns DESC, event_id DESC LIMIT ?`, append(args, q.Limit+1)...)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		p.Records = append(p.Records, r)
	}
	if len(p.Records) > q.Limit {
		p.Records = p.Records[:q.Limit]
		last := p.Records[q.Limit-1]
		p.NextCursor = cursor{1, q.RunID, last.StartTime.UnixNano(), last.EventID}.String()
	}
	return rows.Err()
}

func (p *Page) summarize(ctx context.Context, tx *sql.Tx, q Query) error {
	where, args := q.where()
	rows, err := tx.QueryContext(ctx, `SELECT job_type, status, count(*), sum(duration_ms) FROM records WHERE `+where+
		` GROUP BY job_type, status`, args...)
	if err != nil {
		return fmt.Errorf("summarize records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var job, status string
		var n int
		var took int64
		if err := rows.Scan(&job, &status, &n, &took); err != nil {
			return fmt.Errorf("summarize records: %w", err)
		}
		p.Summary.Total += n
		p.Summary.ByJobType[job] += n
		p.Summary.ByStatus[status] += n
		p.Summary.DurationMS += took
	}
	return rows.Err()
}

func (q Query) where() (string, []any) {
	if q.RunID == "" {
		return `1 = 1`, nil
	}
	return `belongs = ?`, []any{q.RunID}
}

// scanRecord reads the columns of selectRecords, and those after them into more.
func scanRecord(rows *sql.Rows, more ...any) (Record, error) {
	var r Record
	var start int64
	var end sql.NullInt64
	var metrics, context string
	err := rows.Scan(append([]any{&r.EventID, &r.RunID, &r.ParentRunID, &r.AgentName, &r.JobType, &start, &end, &r.DurationMS, &r.Status,
		&r.Product, &r.ErrorSummary, &r.OutputSummary, &metrics, &context}, more...)...)
	r.StartTime = time.Unix(0, start).UTC()
	if end.Valid {
		at := time.Unix(0, end.Int64).UTC()
		r.EndTime = &at
	}
	if metrics != "" {
		r.Metrics = json.RawMessage(metrics)
	}
	if context != "" {
		r.Context = json.RawMessage(context)
	}
	return r, err
}

// cursor is the last record of a page. It is opaque to clients.
type cursor struct {
	Version int    `json:"v"`
	RunID   string `json:"r"`
	StartNS int64  `json:"s"`
	EventID string `json:"e"`
}

func (c cursor) String() string { return base64.RawURLEncoding.EncodeToString(mustJSON(c)) }

func parseCursor(q Query) (cursor, error) {
	var c cursor
	if q.Cursor == "" {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(q.Cursor)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		err = dec.Decode(&c)
	}
	if err != nil || c.Version != 1 || c.RunID != q.RunID || c.EventID == "" || c.String() != q.Cursor {
		return c, fault.New(fault.InvalidCursor, "the cursor does not belong to this query").
			WithHint("Call again without a cursor, or with the next_cursor of the page before.")
	}
	return c, nil
}
