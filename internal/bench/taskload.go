package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

const (
	loadTasks = 50                    // beside the big one
	pollEvery = 25 * time.Millisecond // between an answer of status and the next question
)

// loaded is what a server did under load.
type loaded struct {
	answers []time.Duration // of status
	took    time.Duration   // from the opened gate to the last recorded end
	peak    int64           // KiB, of the server alone
}

// taskLoad measures a server while fifty tasks write, and one of them without end and
// without a newline. Each has to end well, with every byte counted.
func taskLoad(ctx context.Context, l *lab) ([]row, error) {
	root, err := l.project()
	if err != nil {
		return nil, err
	}
	var answers []time.Duration
	var took, peak []float64
	for i := range l.rounds {
		m, err := l.loadTasks(ctx, root, fmt.Sprintf("taskload-%d", i))
		if err != nil {
			return nil, err
		}
		answers = append(answers, m.answers...)
		took, peak = append(took, m.took.Seconds()), append(peak, float64(m.peak)/1024)
	}
	q := probe.Summarize(answers)
	return []row{
		atMost(fmt.Sprintf("peak memory of the server, %d tasks of %d MB and one of %d MB", loadTasks, eachMB, bigMB), slices.Max(peak), "MB", 60),
		plain("status meanwhile, p50", q.P50/1000, "ms"),
		atMost("status meanwhile, p99", q.P99/1000, "ms", 20),
		plain("until all have ended", median(took), "s"),
	}, nil
}

// loadTasks starts the tasks, lets them go and asks for their status until all are over.
func (l *lab) loadTasks(ctx context.Context, root, state string) (m loaded, err error) {
	c, err := l.serveTasks(ctx, root, state)
	if err != nil {
		return m, err
	}
	defer c.Close()
	want := map[int]int64{}
	for i := range loadTasks + 1 {
		name, size := []string{"lines", "more"}[i%2], int64(eachMB<<20) // one answer has not room for all of them
		if i == 0 {
			name, size = "big", bigMB<<20
		}
		var j job
		if _, err := ask(ctx, c, "task_start", startArgs{name, 0}, &j); err != nil {
			return m, err
		}
		want[j.PID] = size
	}
	gate, err := os.OpenFile(filepath.Join(root, "gate"), os.O_RDWR, 0)
	if err != nil {
		return m, err
	}
	defer gate.Close()
	began := time.Now()
	if _, err := gate.WriteString(strings.Repeat("\n", loadTasks+1)); err != nil { // a line for each
		return m, err
	}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for running := 1; running > 0; <-poll.C {
		var s struct{ Running []job }
		took, err := ask(ctx, c, "status", struct{}{}, &s)
		if err != nil {
			return m, err
		}
		m.answers, m.took, running = append(m.answers, took), time.Since(began), 0
		for _, j := range s.Running {
			if j.State == "running" {
				running++
			}
		}
	}
	_, m.peak = probe.Alone(c.PID())
	return m, checkEnds(ctx, c, want)
}

// checkEnds compares how tasks ended, and what was written, with what has to be.
func checkEnds(ctx context.Context, c *probe.Client, want map[int]int64) error {
	var failed []error
	for _, name := range []string{"big", "lines", "more"} {
		var s struct{ Jobs []job }
		_, err := ask(ctx, c, "task_status", map[string]string{"unique_name": name}, &s)
		failed = append(failed, err)
		for _, j := range s.Jobs {
			var out struct {
				Total int64 `json:"total_bytes"`
			}
			_, err := ask(ctx, c, "task_output", map[string]int{"pid": j.PID}, &out)
			if err == nil && (!j.succeeded() || out.Total != want[j.PID]) {
				err = fmt.Errorf("task %d is %s after %d bytes of %d", j.PID, j.State, out.Total, want[j.PID])
			}
			failed = append(failed, err)
			delete(want, j.PID)
		}
	}
	if len(want) > 0 {
		failed = append(failed, fmt.Errorf("of %d tasks nothing is known", len(want)))
	}
	return errors.Join(failed...)
}
