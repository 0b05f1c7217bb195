package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// guardedCalls measures get_run_status of a finished launch against a tool of the bare
// server that answers the same bytes.
func guardedCalls(ctx context.Context, l *lab) ([]row, error) {
	e, err := l.launched(ctx)
	if err != nil {
		return nil, err
	}
	ours, err := l.serve(ctx, e.state)
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	args := json.RawMessage(fmt.Sprintf(`{"run_id":%q}`, e.id))
	answer := ours.Call(ctx, "get_run_status", args, false)
	if answer.Outcome != probe.OK {
		return nil, errors.New(answer.Text)
	}
	same := filepath.Join(l.dir, "answer.json")
	if err := os.WriteFile(same, answer.Result, 0o600); err != nil {
		return nil, err
	}
	bare, err := l.serveBare(ctx, same)
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	var rows []row
	for _, inFlight := range []int{1, 8} {
		load := probe.Load{Tool: "get_run_status", Args: args, Calls: 1000, InFlight: inFlight, Warmup: 100, Timeout: 10 * time.Second}
		var p50, theirs []float64
		for range l.rounds {
			for _, side := range []struct {
				c    *probe.Client
				into *[]float64
			}{{bare, &theirs}, {ours, &p50}} {
				q, err := quantiles(ctx, side.c, load)
				if err != nil {
					return nil, err
				}
				*side.into = append(*side.into, q.P50)
			}
		}
		rows = append(rows, compared(fmt.Sprintf("guarded get_run_status, %d in flight, p50", inFlight), p50, theirs, "µs", 1.3))
	}
	kb, _ := probe.Memory(ours.PID())
	return append(rows, plain("memory after these calls, resident", float64(kb)/1024, "MB")), nil
}

// quantiles makes calls that all have to succeed.
func quantiles(ctx context.Context, c *probe.Client, load probe.Load) (*probe.Quantiles, error) {
	m, err := c.Run(ctx, load)
	if err == nil && len(m.Failed) > 0 {
		err = errors.New(m.FirstText)
	}
	return probe.Summarize(m.Took), err
}

// listing measures the first page of list_runs through the server.
func listing(ctx context.Context, l *lab) ([]row, error) {
	state, err := l.fill(ctx)
	if err != nil {
		return nil, err
	}
	c, err := l.serve(ctx, state)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	load := probe.Load{Tool: "list_runs", Args: json.RawMessage(`{"limit":50}`), Calls: 1000, InFlight: 1, Warmup: 50, Timeout: 10 * time.Second}
	var p50, p99 []float64
	for range l.rounds {
		q, err := quantiles(ctx, c, load)
		if err != nil {
			return nil, err
		}
		p50, p99 = append(p50, q.P50/1000), append(p99, q.P99/1000)
	}
	what := fmt.Sprintf("list_runs, page of 50 of %d runs, ", l.runs)
	direct, err := l.listStore(ctx, state)
	return append([]row{plain(what+"p50", median(p50), "ms"), plain(what+"p99", median(p99), "ms")}, direct...), err
}
