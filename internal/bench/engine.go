package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
)

// journalAppend measures a durable append against a write and a flush of the same bytes.
func journalAppend(_ context.Context, l *lab) ([]row, error) {
	dir, err := l.folder("journal")
	if err != nil {
		return nil, err
	}
	j, err := journal.Create(journal.Disk{}, filepath.Join(dir, "events.ndjson"))
	if err != nil {
		return nil, err
	}
	defer j.Close()
	body := []byte(`{"run_id":"r_20261120T100000Z_benchmark","type":"NODE_ENTERED","ts":"2026-11-20T10:00:00.000Z","payload":{"node":"empty","visit":1}}`)
	_, lines, err := j.Append(true, body)
	if err != nil {
		return nil, err
	}
	same := append(lines[0].Raw, '\n')
	f, err := journal.Disk{}.OpenFile(filepath.Join(dir, "plain"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ours, theirs []float64
	for range 300 * l.rounds { // they take turns at every append: disks have moods
		plain, err := microseconds(func() error {
			if _, err := f.Write(same); err != nil {
				return err
			}
			return f.Sync()
		})
		if err != nil {
			return nil, err
		}
		appended, err := microseconds(func() error { _, _, err := j.Append(true, body); return err })
		if err != nil {
			return nil, err
		}
		ours, theirs = append(ours, appended), append(theirs, plain)
	}
	return []row{compared("journal append, flushed", ours, theirs, "µs", 1.5)}, nil
}

func microseconds(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return float64(time.Since(began).Nanoseconds()) / 1e3, err
}

// nodeExecutions measures the engine alone, with workers that do nothing, every result
// durable.
func nodeExecutions(ctx context.Context, l *lab) ([]row, error) {
	const fixes = 95
	var rows []row
	for _, parallel := range []int{1, 8} {
		var rates []float64
		before := processorTime()
		for i := range l.rounds {
			dir, err := l.folder(fmt.Sprintf("nodes-%d-%d", parallel, i))
			if err != nil {
				return nil, err
			}
			took, err := executeEmpty(ctx, dir, parallel, fixes)
			if err != nil {
				return nil, err
			}
			rates = append(rates, float64(parallel*executions(fixes))/took.Seconds())
		}
		what := fmt.Sprintf("node executions, %d runs at once", parallel)
		rows = append(rows, atLeast(what, median(rates), "a second", 2000))
		if parallel > 1 {
			all := l.rounds * parallel * executions(fixes)
			rows = append(rows, plain("processor time of a node execution", float64((processorTime()-before).Microseconds())/float64(all), "µs"))
		}
	}
	return rows, nil
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// executeEmpty executes so many runs at once and returns how long that took, up to the
// work of their last node: asking the store how they stand would be measured too.
func executeEmpty(ctx context.Context, dir string, parallel, fixes int) (time.Duration, error) {
	store, err := runs.OpenStore(dir, runs.StoreOptions{})
	if err != nil {
		return 0, err
	}
	defer store.Close()
	last := make(chan struct{}, parallel)
	empty := empties(fixes)[worker]
	engine := local.New(local.Options{Store: store, Workers: map[string]runs.Activity{
		worker: func(ctx context.Context, w runs.Work, try runs.Try) (runs.Result, error) {
			if w.Node.Name == "last" {
				last <- struct{}{}
			}
			return empty(ctx, w, try)
		},
	}})
	defer engine.Close(ctx)
	began := time.Now()
	for range parallel {
		if _, _, err := engine.Start(ctx, emptyRequest(fixes)); err != nil {
			return 0, err
		}
	}
	for range parallel {
		select {
		case <-last:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return time.Since(began), nil
}

// commands measures from a command to what it asks for, on a run whose node is busy: a
// cancel to the state CANCELLED; and, after the driver is gone, a resume to the node's
// work.
func commands(ctx context.Context, l *lab) ([]row, error) {
	var cancels, resumes []time.Duration
	for i := range 5 * l.rounds {
		dir, err := l.folder(fmt.Sprintf("commands-%d", i))
		if err != nil {
			return nil, err
		}
		resumed, cancelled, err := resumeThenCancel(ctx, dir)
		if err != nil {
			return nil, err
		}
		resumes, cancels = append(resumes, resumed), append(cancels, cancelled)
	}
	slow := func(d []time.Duration) float64 { return probe.Summarize(d).P99 / 1000 }
	return []row{
		atMost("cancel of a busy run, p99", slow(cancels), "ms", 100),
		atMost("resume of a run that nobody drives, p99", slow(resumes), "ms", 1000),
	}, nil
}

func resumeThenCancel(ctx context.Context, dir string) (resumed, cancelled time.Duration, err error) {
	store, err := runs.OpenStore(dir, runs.StoreOptions{})
	if err != nil {
		return 0, 0, err
	}
	defer store.Close()
	busy := make(chan struct{}, 1)
	workers := map[string]runs.Activity{worker: func(ctx context.Context, _ runs.Work, _ runs.Try) (runs.Result, error) {
		busy <- struct{}{}
		<-ctx.Done()
		return runs.Result{}, ctx.Err()
	}}
	first := local.New(local.Options{Store: store, Workers: workers})
	id, _, err := first.Start(ctx, emptyRequest(1))
	if err != nil {
		return 0, 0, err
	}
	<-busy
	if err := first.Close(ctx); err != nil {
		return 0, 0, err
	}
	began := time.Now()
	second := local.New(local.Options{Store: store, Workers: workers})
	defer second.Close(ctx)
	if _, err := second.Command(ctx, id, runs.Command{ID: "resume", Type: runs.Resume}); err != nil {
		return 0, 0, err
	}
	<-busy
	resumed = time.Since(began)
	began = time.Now()
	if _, err := second.Command(ctx, id, runs.Command{ID: "cancel", Type: runs.Cancel}); err != nil {
		return 0, 0, err
	}
	_, err = store.Until(ctx, id, func(v *runs.View) bool { return v.State == runs.StateCancelled })
	return resumed, time.Since(began), err
}

// listStore measures pages of the store itself, one behind the other.
func (l *lab) listStore(ctx context.Context, state string) ([]row, error) {
	store, err := runs.OpenStore(state, runs.StoreOptions{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var took []time.Duration
	filter := runs.Filter{Kind: runs.Launch, Limit: 50}
	for range 300 * l.rounds {
		began := time.Now()
		page, err := store.List(ctx, filter)
		took = append(took, time.Since(began))
		if err != nil {
			return nil, err
		}
		filter.Cursor = page.NextCursor
	}
	what, q := fmt.Sprintf("page of 50 of %d runs from the store, ", l.runs), probe.Summarize(took[1:]) // the first opens the index
	return []row{plain(what+"p50", q.P50/1000, "ms"), atMost(what+"p99", q.P99/1000, "ms", 2)}, nil
}
