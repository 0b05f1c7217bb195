package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/targets/jobs"
)

// The limits that the seed of the tasks toolset gives, without settings.

// Without settings 5 MB of a task's output are kept, and up to a quarter more; a message
// holds 8 KB of it.
func TestFiveMegabytesOfOutputAreKept(t *testing.T) {
	t.Parallel()
	const kept, written = 5 << 20, 8 << 20
	w := newProject(t)
	w.install("head", "yes")
	w.script("pours", fmt.Sprintf("yes 'a line of 31 bytes and its end.' | head -c %d", written))
	p := w.tasks()
	p.must("task_start", args{"unique_name": "pours", "wait_for_exit_seconds": 50})
	out := p.must("task_output", args{"pid": p.taskJobs()[0].PID, "from": 0, "lines": 1000, "show_truncation": true})
	var page struct {
		Lines      []string
		TotalBytes int64 `json:"total_bytes"`
		Full       bool  `json:"buffer_full"`
		Next       int64 `json:"next_from"`
	}
	if err := json.Unmarshal(out, &page); err != nil || len(page.Lines) < 2 || page.TotalBytes != written || !page.Full {
		t.Fatalf("%v %.300s", err, out)
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(page.Lines[0], "["), " ")
	gone, err := strconv.ParseInt(said, 10, 64)
	if left := written - gone; err != nil || left < kept || left > kept*5/4 {
		t.Errorf("%d bytes are kept: %s", left, page.Lines[0])
	}
	if n := page.Next - gone; n > jobs.MessageBytes || n < jobs.MessageBytes/2 {
		t.Errorf("a message holds %d bytes", n)
	}
}

// Without settings 50 tasks run at once; the 51st is refused, and has room once one ends.
func TestFiftyTasksRunAtOnce(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("sleeps", "exec sleep 1000")
	p := w.tasks()
	var started []<-chan answer
	for range 50 {
		started = append(started, p.beginCall("task_start", args{"unique_name": "sleeps", "wait_for_exit_seconds": 0}))
	}
	for _, a := range started {
		p.success("task_start", p.wait(a))
	}
	if r := p.refused("task_start", args{"unique_name": "test"}, "TOO_MANY_JOBS"); r.Code != -32603 || !r.Data.Retryable {
		t.Errorf("%s", &r)
	}
	all := p.taskJobs()
	if len(all) != 50 {
		t.Fatalf("%d jobs are listed", len(all))
	}
	p.must("task_stop", args{"pid": all[0].PID})
	p.must("task_start", args{"unique_name": "test"})
}

// Without settings a thousand lines are returned at most, however many are asked for.
func TestAThousandLinesAreReturnedAtMost(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("counts", "i=0; while [ $i -lt 1100 ]; do i=$((i+1)); echo $i; done")
	p := w.tasks()
	p.must("task_start", args{"unique_name": "counts", "wait_for_exit_seconds": 50})
	pid := p.taskJobs()[0].PID
	if lines := p.lines(pid, args{"lines": 1000000}); len(lines) != 1000 || lines[0] != "101" || lines[999] != "1100" {
		t.Errorf("%d lines, %.80q", len(lines), lines)
	}
	if full := field(t, p.must("task_output", args{"pid": pid}), "buffer_full"); full != "true" {
		t.Errorf("buffer_full is %s", full)
	}
}
