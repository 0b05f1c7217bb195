package telemetry

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A notebook is a Forwarder that writes down what it gets.
type notebook struct {
	mu      sync.Mutex
	records []Record
	commits []string
	flushes int
}

func (n *notebook) Forward(records []Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records = append(n.records, records...)
}

func (n *notebook) Associate(run string, ids []string, c Commit) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.commits = append(n.commits, fmt.Sprintf("%s %s %s: %s", run, c.Hash, c.Source, strings.Join(ids, " ")))
}

func (n *notebook) Flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flushes++
}

// last returns the status of each record as it was forwarded last.
func (n *notebook) last() map[string]Status {
	out := map[string]Status{}
	for _, r := range n.records {
		out[r.EventID] = r.Status
	}
	return out
}

func TestAllThatIsKeptIsForwardedOnce(t *testing.T) {
	n := new(notebook)
	path := filepath.Join(t.TempDir(), "telemetry.db")
	forwarding := func(o *Options) { o.Forward, o.DBPath = n, path }
	r := newRig(t, forwarding)
	call := endCall(t, r.Telemetry, "r_20261120T100000Z_abcdefghijkl")
	if err := r.queue.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := launchStory(t, call.ID(), "call-00000000000000000000000000000001-0000000000000002")
	for i := range s.events {
		r.project(s, int64(i), int64(i+1))
	}
	again := newRig(t, forwarding) // another process reads the journal from the start
	before := len(n.records)
	again.project(s, 0, int64(len(s.events)))
	if len(n.records) != before || len(n.commits) != 1 {
		t.Errorf("%d records are forwarded again; commits %q", len(n.records)-before, n.commits)
	}
	kept := map[string]Status{}
	for _, rec := range r.page(Query{Limit: 1000}).Records {
		kept[rec.EventID] = rec.Status
	}
	if got := n.last(); !maps.Equal(got, kept) {
		t.Errorf("forwarded %v\nkept %v", got, kept)
	}
	if i := slices.IndexFunc(n.records, func(r Record) bool { return r.EventID == call.ID() && r.rebuilt }); i >= 0 {
		t.Error("the record of a call is forwarded as its journal tells of it, too")
	}
	if n.flushes == 0 {
		t.Error("the end of the run is no moment to deliver")
	}
}

func TestACommitIsNotedAtTheRunAndWhatWasBefore(t *testing.T) {
	n := new(notebook)
	r := newRig(t, func(o *Options) { o.Forward = n })
	s := launchStory(t)
	r.project(s, 0, int64(len(s.events)))
	const sha = "6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90"
	if len(n.commits) != 1 || !strings.HasPrefix(n.commits[0], string(s.run)+" "+sha+" ci: "+string(s.run)+" "+string(s.run)+"-") || strings.Contains(n.commits[0], "pr.1.main") {
		t.Errorf("%q", n.commits)
	}
	for id, want := range map[string]string{string(s.run): sha, string(s.run) + "-orchestrator_node-clone.1.main": sha, string(s.run) + "-orchestrator_node-pr.1.main": ""} {
		run, err := r.Run(t.Context(), id)
		if err != nil || run.GitCommitHash != want || want != "" && (run.GitCommitSource != "ci" || run.GitCommitTimestamp == nil) {
			t.Errorf("%s: %v %+v", id, err, run.Details)
		}
	}
}

func TestWhatTheStoreDoesNotTakeIsForwardedAllTheSame(t *testing.T) {
	n := new(notebook)
	r := newRig(t, func(o *Options) {
		o.Forward, o.DBPath = n, filepath.Join(t.TempDir(), "no", "such", "folder", "telemetry.db")
	})
	call := endCall(t, r.Telemetry, "")
	if err := r.queue.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(n.records) != 1 || n.records[0].EventID != call.ID() || r.Dropped() != 1 {
		t.Errorf("forwarded %v, dropped %d", n.records, r.Dropped())
	}
}

func TestAFullQueueSpills(t *testing.T) {
	n := new(notebook)
	q := newRecorder(&store{}, n, nil)
	q.once.Do(func() {}) // nobody reads
	for range queueSize + 5 {
		q.add(Record{EventID: "e"})
	}
	if len(n.records) != 5 || q.dropped.Load() != 5 {
		t.Errorf("%d spilt, %d dropped", len(n.records), q.dropped.Load())
	}
}
