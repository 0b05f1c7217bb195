package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Fifty tasks that write at once, and one that writes far more without a newline, end
// each with its own code and all bytes counted, and the server holds none of it. How fast
// it answers meanwhile is measured by internal/bench.
func TestFiftyTasksAtOnceEndRightInBoundedMemory(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	for _, name := range []string{"head", "tr"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(path, filepath.Join(strings.TrimPrefix(w.env[1], "PATH="), name)); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(w.root, "burst.sh")
	write(t, script, "#!/bin/sh\nread line <gate\nhead -c $1 /dev/zero | tr '\\0' x\nexit $2\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	const small, big = 1 << 20, 128 << 20
	p := w.tasks("--tasks-max-jobs=51")
	type end struct{ bytes, code int }
	want := map[int]end{}
	for i := range 51 {
		e := end{small, i % 7}
		if i == 20 {
			e = end{big, 9}
		}
		pid := p.startTask("burst", args{"args": []string{strconv.Itoa(e.bytes), strconv.Itoa(e.code)}, "wait_for_exit_seconds": 0})
		want[pid] = e
	}
	gate, err := os.OpenFile(filepath.Join(w.root, "gate"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	if _, err := gate.WriteString(strings.Repeat("\n", len(want))); err != nil {
		t.Fatal(err)
	}
	within(t, 5*patience, "all tasks end", func() bool { // they yield to the other tests
		return !slices.ContainsFunc(p.taskJobs(), func(j taskJob) bool { return j.State == "running" })
	})
	var all struct {
		Running  []taskJob
		NotShown int `json:"not_shown"`
	}
	if err := json.Unmarshal(p.must("status", args{}), &all); err != nil || all.NotShown == 0 || len(all.Running)+all.NotShown != len(want) {
		t.Errorf("status shows %d and leaves out %d of %d: %v", len(all.Running), all.NotShown, len(want), err)
	}
	for pid, e := range want {
		var r struct{ Contents []struct{ Text string } }
		a := p.request("resources/read", map[string]any{"uri": fmt.Sprintf("job://%d", pid)})
		if err := json.Unmarshal(a.Result, &r); a.Error != nil || err != nil || len(r.Contents) != 1 {
			t.Fatalf("job %d: %v, %v", pid, a.Error, err)
		}
		job, out := json.RawMessage(r.Contents[0].Text), p.must("task_output", args{"pid": pid})
		if field(t, job, "state") != "exited" || field(t, job, "exit_code") != strconv.Itoa(e.code) {
			t.Errorf("of %d the code should be %d: %s", pid, e.code, job)
		}
		var counted struct {
			Total int `json:"total_bytes"`
		}
		if err := json.Unmarshal(out, &counted); err != nil || counted.Total != e.bytes {
			t.Errorf("%d wrote %d bytes, %d were counted", pid, e.bytes, counted.Total)
		}
	}
	if mb := peakMemory(t, p.cmd.Process.Pid); mb > 60 {
		t.Errorf("the server took %d MB", mb)
	}
}

// peakMemory returns the most memory that a process had resident, in MB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kb)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n >> 10
		}
	}
	t.Fatal("the kernel does not say")
	return 0
}
