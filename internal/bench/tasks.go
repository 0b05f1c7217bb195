package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// outputMB is what a task writes to measure how fast that goes, bigMB and eachMB are what
// the tasks of a load write.
const (
	outputMB = 256
	bigMB    = 1024
	eachMB   = 20
)

// scripts are the targets of the project in which tasks are measured. Those of the load
// wait for a line from the gate: all get theirs at once.
var scripts = map[string]string{
	"nothing": "true",
	"asleep":  "exec sleep 1000",
	"writer":  fmt.Sprintf("exec head -c %d /dev/zero", outputMB<<20),
	"big":     fmt.Sprintf("read line <gate; head -c %d /dev/zero | tr '\\0' x", bigMB<<20),
	"lines":   fmt.Sprintf("read line <gate; yes 'a line of some length, as compilers write them' | head -c %d", eachMB<<20),
	"more":    fmt.Sprintf("read line <gate; yes 'a line of some length, as compilers write them' | head -c %d", eachMB<<20),
}

// project makes a folder with the targets, all of which are allowed.
func (l *lab) project() (string, error) {
	root, err := l.folder("project")
	if err != nil {
		return "", err
	}
	failed := []error{os.RemoveAll(filepath.Join(root, "gate")), syscall.Mkfifo(filepath.Join(root, "gate"), 0o600)}
	for name, text := range scripts {
		failed = append(failed, os.WriteFile(filepath.Join(root, name+".sh"), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	allowed, err := l.folder(".dela") // the home of the programs
	entry := fmt.Sprintf("[[entries]]\npath = %q\nscope = \"Directory\"\n", root)
	return root, errors.Join(append(failed, err, os.WriteFile(filepath.Join(allowed, "allowlist.toml"), []byte(entry), 0o600))...)
}

// serveTasks starts a server of the tasks toolset on a state directory of its own.
func (l *lab) serveTasks(ctx context.Context, root, name string) (*probe.Client, error) {
	state, err := l.folder(name)
	if err != nil {
		return nil, err
	}
	return l.start(ctx, l.gantry, "mcp", "--toolsets", "tasks", "--rate-limit", "0", "--tasks-max-jobs", "100", "--root", root, "--state-dir", state)
}

// job is what the tools say of a task.
type job struct {
	PID        int    `json:"pid"`
	UniqueName string `json:"unique_name"`
	State      string `json:"state"`
	ExitCode   *int   `json:"exit_code"`
}

func (j job) succeeded() bool { return j.State == "exited" && j.ExitCode != nil && *j.ExitCode == 0 }

// ask calls a tool, and returns how long the answer took.
func ask(ctx context.Context, c *probe.Client, tool string, args, out any) (time.Duration, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	a := c.Call(ctx, tool, raw, false)
	took := time.Since(began)
	if a.Outcome != probe.OK {
		return took, fmt.Errorf("%s: %s", tool, a.Text)
	}
	return took, json.Unmarshal(a.Result, out)
}

type startArgs struct {
	UniqueName string `json:"unique_name"`
	Wait       int    `json:"wait_for_exit_seconds"`
}

// runTask runs a task to its end, which has to be a good one.
func runTask(ctx context.Context, c *probe.Client, name string) (time.Duration, error) {
	var j job
	took, err := ask(ctx, c, "task_start", startArgs{name, 50}, &j)
	if err == nil && !j.succeeded() {
		err = fmt.Errorf("the task %s is %q", name, j.State)
	}
	return took, err
}

// tasks measures the task runner on a quiet server: a start of what does nothing, the
// supervisor's memory, and output.
func tasks(ctx context.Context, l *lab) ([]row, error) {
	root, err := l.project()
	if err != nil {
		return nil, err
	}
	c, err := l.serveTasks(ctx, root, "tasks")
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var all []row
	for _, take := range []func(context.Context, *lab, *probe.Client, string) ([]row, error){taskStarts, taskOutput, taskMemory} {
		rows, err := take(ctx, l, c, root)
		if err != nil {
			return all, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// taskStarts starts a script that does nothing: as a task, and bare, in turns.
func taskStarts(ctx context.Context, l *lab, c *probe.Client, root string) ([]row, error) {
	const each = 60
	var ours, bare [2][]float64 // p50, p99 of the rounds
	for range l.rounds {
		var task, spawn []time.Duration
		for range each {
			took, err := runTask(ctx, c, "nothing")
			if err != nil {
				return nil, err
			}
			task = append(task, took)
			if _, took, err = probe.Execute(ctx, root, l.home, filepath.Join(root, "nothing.sh")); err != nil {
				return nil, err
			}
			spawn = append(spawn, took)
		}
		for side, took := range map[*[2][]float64][]time.Duration{&ours: task, &bare: spawn} {
			q := probe.Summarize(took)
			side[0], side[1] = append(side[0], q.P50/1000), append(side[1], q.P99/1000)
		}
	}
	return []row{
		compared("task_start of `true`, to its recorded exit, p50", ours[0], bare[0], "ms", 0).targeting(median(ours[0]), "ms", 15),
		compared("the same, p99", ours[1], bare[1], "ms", 0).untargeted(),
		plain("the same, best round's p50", slices.Min(ours[0]), "ms"),
	}, nil
}

// taskOutput writes to a supervisor, and through cat to a file, in turns.
func taskOutput(ctx context.Context, l *lab, c *probe.Client, root string) ([]row, error) {
	var ours, cat []float64
	file := filepath.Join(l.dir, "written")
	for range l.rounds {
		took, err := runTask(ctx, c, "writer")
		if err != nil {
			return nil, err
		}
		ours = append(ours, outputMB/took.Seconds())
		if _, took, err = probe.Execute(ctx, root, l.home, "sh", "-c", fmt.Sprintf("./writer.sh | cat >%q", file)); err != nil {
			return nil, err
		}
		cat = append(cat, outputMB/took.Seconds())
	}
	what := fmt.Sprintf("output of a task, %d MB, beside `cat >file`", outputMB)
	return []row{compared(what, ours, cat, "MB/s", 0).untargeted()}, os.Remove(file)
}

// taskMemory looks at the supervisors of tasks that sleep.
func taskMemory(ctx context.Context, l *lab, c *probe.Client, _ string) ([]row, error) {
	var own, resident []float64
	for range 10 {
		var j job
		if _, err := ask(ctx, c, "task_start", startArgs{"asleep", 0}, &j); err != nil {
			return nil, err
		}
		shim := probe.Parent(j.PID)
		rss, _ := probe.Alone(shim)
		own, resident = append(own, float64(probe.Private(shim))/1024), append(resident, float64(rss)/1024)
		if _, err := ask(ctx, c, "task_stop", map[string]int{"pid": j.PID}, new(json.RawMessage)); err != nil {
			return nil, err
		}
	}
	return []row{
		plain("supervisor of a task that sleeps, memory of its own", median(own), "MB"),
		plain("the same, resident with the pages of the program that all share", median(resident), "MB"),
	}, nil
}
