package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// answers are how a telemetry API may be, by name.
func answers() []struct {
	name   string
	status int
	after  time.Duration
} {
	return []struct {
		name   string
		status int
		after  time.Duration
	}{
		{"is well", http.StatusCreated, 0}, {"is slow (200 ms)", http.StatusCreated, 200 * time.Millisecond}, {"hangs", 0, time.Hour},
		{"answers 500", http.StatusInternalServerError, 0}, {"answers 400", http.StatusBadRequest, 0}, {"is down", 0, 0},
	}
}

// recordsElsewhere measures a call of a server that posts its records to a telemetry API,
// against that of one that does not.
func recordsElsewhere(ctx context.Context, l *lab) ([]row, error) {
	e, err := l.launched(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, a := range answers() {
		rowOf, err := l.besideAPI(ctx, e, fmt.Sprintf("records-%d", i), a.name, a.status, a.after)
		if err != nil {
			return rows, err
		}
		rows = append(rows, rowOf...)
	}
	return rows, nil
}

// besideAPI measures calls while an API answers with the status after a while; 0 is no
// answer.
func (l *lab) besideAPI(ctx context.Context, e *example, folder, name string, status int, after time.Duration) ([]row, error) {
	over := make(chan struct{})
	var asked atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(after):
		case <-over:
		case <-r.Context().Done():
		}
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"status":"created"}`)
	}))
	defer api.Close()
	defer close(over)
	usual, err := l.serve(ctx, e.state)
	if err != nil {
		return nil, err
	}
	defer usual.Close()
	posting, err := l.start(ctx, l.gantry, "mcp", "--rate-limit", "0", "--all-roots", "--no-worker", "--root", l.dir, "--state-dir", e.state,
		"--telemetry-api-url", api.URL)
	if err != nil {
		return nil, err
	}
	defer posting.Close()
	load := probe.Load{Tool: "get_run_status", Args: json.RawMessage(fmt.Sprintf(`{"run_id":%q}`, e.id)), Calls: 500, InFlight: 1, Warmup: 50, Timeout: 10 * time.Second}
	var p50, p99, usual50, usual99 []float64
	for range l.rounds {
		for _, side := range []struct {
			c        *probe.Client
			p50, p99 *[]float64
		}{{usual, &usual50, &usual99}, {posting, &p50, &p99}} {
			settle(&asked)
			q, err := quantiles(ctx, side.c, load)
			if err != nil {
				return nil, err
			}
			*side.p50, *side.p99 = append(*side.p50, q.P50), append(*side.p99, q.P99)
		}
	}
	return []row{
		compared("a call while the telemetry API "+name+", p50", p50, usual50, "µs", 1.2),
		compared("a call while the telemetry API "+name+", p99", p99, usual99, "µs", 1.2).untargeted(),
	}, nil
}

// settle waits until the API has not been asked for a moment, at most five seconds: what
// was recorded in one round is not to be delivered in the next.
func settle(asked *atomic.Int64) {
	for range 25 {
		before := asked.Load()
		<-time.After(200 * time.Millisecond)
		if asked.Load() == before {
			return
		}
	}
}
