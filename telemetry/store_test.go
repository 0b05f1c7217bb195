package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/db"
	"github.com/gantry-run/gantry/internal/fault"
)

func endCall(t testing.TB, tel *Telemetry, run string) *Call {
	t.Helper()
	_, call := tel.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file"})
	call.SetRun(run)
	call.End(CallEnd{Outcome: Success, Summary: "ok"})
	return call
}

func TestRecordsSurviveShutdown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "telemetry.db")
	at := func(o *Options) { o.DBPath = path }
	first := newRig(t, at)
	var ids []string
	for range 300 { // more than one batch
		ids = append(ids, endCall(t, first.Telemetry, "run_12345").ID())
	}
	if err := first.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := newRig(t, at)
	p := second.page(Query{RunID: "run_12345", Limit: 1000})
	if len(p.Records) != 300 || p.Records[299].EventID != ids[0] && p.Records[0].EventID != ids[299] {
		t.Fatalf("%d records", len(p.Records))
	}
	if r := p.Records[0]; r.AgentName != "gantry" || r.EndTime == nil || r.OutputSummary != "ok" || r.StartTime.Location() != time.UTC {
		t.Errorf("%+v", r)
	}
}

// The writer acts on its own: nobody flushes here. The promise is 200 ms; a loaded
// machine gets more before the test fails.
func TestARecordIsWrittenSoon(t *testing.T) {
	r := newRig(t, nil)
	endCall(t, r.Telemetry, "run_warmup1") // makes the file and the tables
	if err := r.queue.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := db.Open(t.Context(), r.opts.DBPath, db.Options{Synchronous: "NORMAL", Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	call := endCall(t, r.Telemetry, "run_12345")
	deadline := time.Now().Add(time.Minute) // for a busy machine
	for {
		var n int
		if err := other.QueryRowContext(t.Context(), `SELECT count(*) FROM records WHERE event_id = ?`, call.ID()).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the record was not written")
		}
	}
}

func TestTheFirstRecordOfACallCounts(t *testing.T) {
	r := newRig(t, nil)
	rec := Record{EventID: "e1", RunID: "run_12345", JobType: JobCall, StartTime: time.Unix(1, 0), Status: StatusSuccess}
	for _, status := range []Status{StatusSuccess, StatusFailure} {
		rec.Status = status
		if err := r.store.insert(t.Context(), []Record{rec}); err != nil {
			t.Fatal(err)
		}
	}
	if p := r.page(Query{RunID: "run_12345"}); len(p.Records) != 1 || p.Records[0].Status != StatusSuccess {
		t.Errorf("%+v", p.Records)
	}
}

func TestPagingSeesEveryRecordOnceInOrder(t *testing.T) {
	r := newRig(t, nil)
	var all []Record
	for i := range 100 {
		all = append(all, Record{EventID: fmt.Sprintf("e%02d", (i*37)%100), RunID: "run_12345", JobType: JobCall,
			StartTime: time.Unix(int64(i/10), 0), Status: StatusSuccess, DurationMS: 2})
	}
	all = append(all, Record{EventID: "part", RunID: "x", ParentRunID: "run_12345", JobType: JobGate, StartTime: time.Unix(0, 0), Status: StatusFailure},
		Record{EventID: "alien", RunID: "run_alien", JobType: JobCall, StartTime: time.Unix(3, 0), Status: StatusSuccess})
	if err := r.store.insert(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	var got []Record
	q := Query{RunID: "run_12345", Limit: 7}
	for {
		p := r.page(q)
		if p.Summary.Total != 101 || p.Summary.ByJobType["gate"] != 1 || p.Summary.ByStatus["success"] != 100 || p.Summary.DurationMS != 200 {
			t.Fatalf("summary %+v", p.Summary)
		}
		got = append(got, p.Records...)
		if p.NextCursor == "" {
			break
		}
		q.Cursor = p.NextCursor
	}
	if len(got) != 101 {
		t.Fatalf("%d records", len(got))
	}
	for i, a := range got[1:] {
		b := got[i]
		if !b.StartTime.After(a.StartTime) && !(b.StartTime.Equal(a.StartTime) && b.EventID > a.EventID) {
			t.Errorf("%s %v before %s %v", b.EventID, b.StartTime, a.EventID, a.StartTime)
		}
	}
}

func TestAForeignCursorIsRefused(t *testing.T) {
	r := newRig(t, nil)
	for range 3 {
		endCall(t, r.Telemetry, "run_12345")
	}
	good := r.page(Query{RunID: "run_12345", Limit: 1}).NextCursor
	if good == "" {
		t.Fatal("no cursor")
	}
	for _, q := range []Query{
		{RunID: "run_other", Cursor: good}, {Cursor: good}, {RunID: "run_12345", Cursor: good + "A"}, {RunID: "run_12345", Cursor: good[1:]},
		{RunID: "run_12345", Cursor: "0"}, {RunID: "run_12345", Cursor: "e30"}, {RunID: "run_12345", Cursor: strings.Repeat("A", 1<<16)}, {RunID: "run_12345", Cursor: "' OR 1=1"},
		{RunID: "run_12345", Cursor: cursor{2, "run_12345", 1, "e"}.String()}, {RunID: "run_12345", Cursor: cursor{1, "run_12345", 1, ""}.String()},
	} {
		if _, err := r.Records(t.Context(), q); !fault.Is(err, fault.InvalidCursor) {
			t.Errorf("%.40q: %v", q.Cursor, err)
		}
	}
}

func TestAnUnusableStoreCostsRecordsNotCalls(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "telemetry.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(o *Options) { o.DBPath = path })
	for range 3 {
		endCall(t, r.Telemetry, "run_12345")
		if _, err := r.Records(t.Context(), Query{}); err == nil {
			t.Error("no error")
		}
	}
	if r.Dropped() != 3 || total(r.points("gantry.tool.calls")) != 3 {
		t.Errorf("dropped %d", r.Dropped())
	}
	if log := r.log.String(); strings.Count(log, "telemetry records are being dropped") != 1 || strings.Contains(log, dir) {
		t.Errorf("log %s", log)
	}
}

func TestAFullQueueDropsInsteadOfBlocking(t *testing.T) {
	r := newRig(t, nil)
	endCall(t, r.Telemetry, "run_12345")
	if err := r.queue.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	holder, err := db.Open(t.Context(), r.opts.DBPath, db.Options{Synchronous: "NORMAL", Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	tx, err := holder.BeginTx(t.Context(), nil) // takes the write lock: the writer waits
	if err != nil {
		t.Fatal(err)
	}
	const calls = queueSize + 2*batchSize
	for range calls {
		r.queue.add(Record{EventID: r.tracerID(), RunID: "run_12345", JobType: JobCall, StartTime: time.Unix(1, 0), Status: StatusSuccess})
	}
	if r.Dropped() == 0 {
		t.Error("nothing was dropped")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	p := r.page(Query{RunID: "run_12345"})
	if int64(p.Summary.Total)+r.Dropped() != calls+1 {
		t.Errorf("%d kept and %d dropped of %d", p.Summary.Total, r.Dropped(), calls+1)
	}
}

func (r *rig) tracerID() string {
	_, span := r.tracer.Start(context.Background(), "id")
	return span.SpanContext().SpanID().String()
}

// Two processes write one file: neither loses a record.
func TestTwoProcessesShareAStore(t *testing.T) {
	const each = 200
	if path := os.Getenv("GANTRY_TEST_TELEMETRY_DB"); path != "" {
		r := newRig(t, func(o *Options) { o.DBPath = path })
		for range each {
			endCall(t, r.Telemetry, "run_12345")
			if err := r.queue.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if r.Dropped() != 0 {
			t.Errorf("dropped %d", r.Dropped())
		}
		return
	}
	path := filepath.Join(t.TempDir(), "telemetry.db")
	var children []*exec.Cmd
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwoProcessesShareAStore$")
		cmd.Env = append(os.Environ(), "GANTRY_TEST_TELEMETRY_DB="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	r := newRig(t, func(o *Options) { o.DBPath = path })
	if p := r.page(Query{RunID: "run_12345"}); p.Summary.Total != 2*each {
		t.Errorf("%d records", p.Summary.Total)
	}
}

func TestWithoutAStoreThereAreNoRecords(t *testing.T) {
	r := newRig(t, func(o *Options) { o.DBPath = "" })
	call := endCall(t, r.Telemetry, "run_12345")
	if p := r.page(Query{RunID: "run_12345"}); p.Records == nil || len(p.Records) != 0 || p.NextCursor != "" {
		t.Errorf("%+v", p)
	}
	if len(call.TraceID()) != 32 || strings.Trim(call.TraceID(), "0") == "" {
		t.Errorf("trace id %q", call.TraceID())
	}
}

func TestRecordsOfARunUseAnIndex(t *testing.T) {
	r := newRig(t, nil)
	endCall(t, r.Telemetry, "run_12345")
	if err := r.queue.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var id, parent, unused int
	var plan string
	err := r.store.db.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN `+selectRecords+`belongs = ? AND (start_ns, event_id) < (?, ?)
		ORDER BY start_ns DESC, event_id DESC LIMIT 50`, "run_12345", 1, "e").Scan(&id, &parent, &unused, &plan)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	if !strings.Contains(plan, "records_of_run") || strings.Contains(plan, "TEMP") {
		t.Error(plan)
	}
}
