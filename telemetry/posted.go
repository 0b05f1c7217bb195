package telemetry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Run is a record as the telemetry API has it: also one that another program posted,
// with what that program says of its work.
type Run struct {
	Record
	CreatedAt time.Time `json:"created_at"` // when it came to the store
	Details
	Posted bool `json:"-"` // by another program
}

// Details are the members of a [Run] that Gantry's own records do not need, apart from
// the commit.
type Details struct {
	ProductFamily      string     `json:"product_family,omitempty"`
	Platform           string     `json:"platform,omitempty"`
	Website            string     `json:"website,omitempty"`
	Subdomain          string     `json:"subdomain,omitempty"`
	WebsiteSection     string     `json:"website_section,omitempty"`
	ItemName           string     `json:"item_name,omitempty"`
	Environment        string     `json:"environment,omitempty"`
	GitRepo            string     `json:"git_repo,omitempty"`
	GitBranch          string     `json:"git_branch,omitempty"`
	GitRunTag          string     `json:"git_run_tag,omitempty"`
	GitCommitHash      string     `json:"git_commit_hash,omitempty"`
	GitCommitSource    string     `json:"git_commit_source,omitempty"`
	GitCommitAuthor    string     `json:"git_commit_author,omitempty"`
	GitCommitTimestamp *time.Time `json:"git_commit_timestamp,omitempty"`
	ItemsDiscovered    *int64     `json:"items_discovered,omitempty"`
	ItemsSucceeded     *int64     `json:"items_succeeded,omitempty"`
	ItemsFailed        *int64     `json:"items_failed,omitempty"`
	ItemsSkipped       *int64     `json:"items_skipped,omitempty"`
	ErrorDetails       string     `json:"error_details,omitempty"`
}

// details is the commit as members of a record.
func (c Commit) details() Details {
	d := Details{GitCommitHash: c.Hash, GitCommitSource: c.Source, GitCommitAuthor: c.Author}
	if !c.Time.IsZero() {
		at := c.Time.UTC()
		d.GitCommitTimestamp = &at
	}
	return d
}

// SetCommit makes the commit the one that was made of the record's work.
func (d *Details) SetCommit(c Commit) {
	of := c.details()
	d.GitCommitHash, d.GitCommitSource = of.GitCommitHash, of.GitCommitSource
	d.GitCommitAuthor, d.GitCommitTimestamp = of.GitCommitAuthor, of.GitCommitTimestamp
}

// maxDetail bounds error_details, in bytes.
const maxDetail = 16 << 10

// cleanRun cleans every text of a record that another program gave, but for its ids.
func (t *Telemetry) cleanRun(r Run) Run {
	for _, name := range []*string{
		&r.AgentName, &r.Product, &r.ProductFamily, &r.Platform, &r.Website, &r.Subdomain, &r.WebsiteSection, &r.ItemName, &r.Environment,
		&r.GitRepo, &r.GitBranch, &r.GitRunTag, &r.GitCommitHash, &r.GitCommitSource, &r.GitCommitAuthor,
	} {
		*name = t.clean(*name, maxName)
	}
	r.ErrorSummary, r.OutputSummary = t.clean(r.ErrorSummary, maxSummary), t.clean(r.OutputSummary, maxSummary)
	r.ErrorDetails = t.clean(r.ErrorDetails, maxDetail)
	r.Context, r.Metrics = t.cleanArguments(r.Context), t.cleanArguments(r.Metrics)
	return r
}

// Clean reports whether a text can be kept as it is: nothing in it is a secret, an
// escape, or too long for a name.
func (t *Telemetry) Clean(name string) bool { return t.clean(name, maxName) == name }

// Post keeps a record of another program. One whose event id is there already is left
// as it is, and created is false. The ids must be [Telemetry.Clean]; other texts are
// made so. Without a record store it fails.
func (t *Telemetry) Post(ctx context.Context, r Run) (created bool, err error) {
	if t.store == nil {
		return false, errNoStore
	}
	r = t.cleanRun(r)
	err = t.store.update(ctx, func(tx *sql.Tx) error {
		written, err := put(ctx, tx, insertRecord+"NOTHING", []Record{r.Record})
		if created = len(written) > 0; err != nil || !created {
			return err
		}
		return saveDetails(ctx, tx, r)
	})
	return created, err
}

var errNoStore = errors.New("there is no record store")

func saveDetails(ctx context.Context, tx *sql.Tx, r Run) error {
	_, err := tx.ExecContext(ctx, `UPDATE records SET posted = ?, more_json = ? WHERE event_id = ?`, r.Posted, string(mustJSON(r.Details)), r.EventID)
	return err
}

// Amend changes a record of any program by its event id and returns what it is then. An
// error of change leaves the record as it was. The ids, the start and who made it stay.
// An unknown id is RECORD_NOT_FOUND.
func (t *Telemetry) Amend(ctx context.Context, eventID string, change func(*Run) error) (Run, error) {
	if t.store == nil {
		return Run{}, errNoStore
	}
	if err := t.queue.flush(ctx); err != nil { // the record may be on its way
		return Run{}, err
	}
	var r Run
	err := t.store.update(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectRuns+`event_id = ?`, eventID)
		if err != nil {
			return err
		}
		found, err := scanRuns(rows)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return recordNotFound(eventID)
		}
		r = found[0]
		if err := change(&r); err != nil {
			return err
		}
		r = t.cleanRun(r)
		if _, err := tx.ExecContext(ctx, `UPDATE records SET end_ns = ?, duration_ms = ?, status = ?, product = ?, error_summary = ?,
			output_summary = ?, metrics_json = ?, context_json = ? WHERE event_id = ?`, nanos(r.EndTime), r.DurationMS, string(r.Status),
			r.Product, r.ErrorSummary, r.OutputSummary, string(r.Metrics), string(r.Context), eventID); err != nil {
			return err
		}
		return saveDetails(ctx, tx, r)
	})
	return r, err
}

func recordNotFound(id string) error {
	return fault.New(fault.RecordNotFound, "there is no record %.80q", id)
}

// RunQuery says which records of the telemetry API to read. Empty fields do not restrict.
type RunQuery struct {
	EventID                     string
	Agent                       string
	JobType                     JobType
	Status                      Status
	CreatedAfter, CreatedBefore time.Time // exclusive
	StartFrom, StartTo          time.Time // inclusive
	Limit, Offset               int       // Limit is 1 to 1000; 0 means 100
}

// Runs returns records, the newest first by when they came to the store, the ones queued
// so far included.
func (t *Telemetry) Runs(ctx context.Context, q RunQuery) ([]Run, error) {
	if t.store == nil {
		return nil, errNoStore
	}
	if err := t.queue.flush(ctx); err != nil {
		return nil, err
	}
	d, err := t.store.open(ctx)
	if err != nil {
		return nil, err
	}
	where, args := q.where()
	if q.Limit <= 0 {
		q.Limit = 100
	}
	rows, err := d.QueryContext(ctx, selectRuns+where+` ORDER BY created_ns DESC, event_id DESC LIMIT ? OFFSET ?`,
		append(args, min(q.Limit, maxLimit), max(0, q.Offset))...)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	return scanRuns(rows)
}

// Run returns a record by its event id. An unknown one is RECORD_NOT_FOUND.
func (t *Telemetry) Run(ctx context.Context, eventID string) (Run, error) {
	found, err := t.Runs(ctx, RunQuery{EventID: eventID, Limit: 1})
	if err != nil {
		return Run{}, err
	}
	if len(found) == 0 {
		return Run{}, recordNotFound(eventID)
	}
	return found[0], nil
}

func (q RunQuery) where() (string, []any) {
	where, args := `1 = 1`, []any(nil)
	add := func(cond string, value any) {
		where += " AND " + cond
		args = append(args, value)
	}
	for _, eq := range []struct{ column, value string }{
		{"event_id", q.EventID}, {"agent_name", q.Agent}, {"job_type", string(q.JobType)}, {"status", string(q.Status)},
	} {
		if eq.value != "" {
			add(eq.column+" = ?", eq.value)
		}
	}
	for _, at := range []struct {
		cond string
		time time.Time
	}{{"created_ns > ?", q.CreatedAfter}, {"created_ns < ?", q.CreatedBefore}, {"start_ns >= ?", q.StartFrom}, {"start_ns <= ?", q.StartTo}} {
		if !at.time.IsZero() {
			add(at.cond, at.time.UnixNano())
		}
	}
	return where, args
}

const selectRuns = `SELECT event_id, run_id, parent_run_id, agent_name, job_type, start_ns, end_ns, duration_ms, status,
	product, error_summary, output_summary, metrics_json, context_json, created_ns, posted, more_json FROM records WHERE `

func scanRuns(rows *sql.Rows) ([]Run, error) {
	defer rows.Close()
	out := []Run{}
	for rows.Next() {
		var r Run
		var created int64
		var more string
		var err error
		if r.Record, err = scanRecord(rows, &created, &r.Posted, &more); err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		r.CreatedAt = time.Unix(0, created).UTC()
		if err := json.Unmarshal([]byte(more), &r.Details); err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
