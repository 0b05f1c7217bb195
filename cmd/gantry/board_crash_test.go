package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// gitThat puts a git before the real one that does something when it adds a worktree.
func (d *desk) gitThat(does string) {
	d.world.t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		d.world.t.Fatal(err)
	}
	bin := filepath.Join(d.home, "bin")
	write(d.world.t, filepath.Join(bin, "git"), "#!/bin/sh\ncase \"$*\" in *'worktree add'*) "+does+";; esac\nexec "+real+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
		d.world.t.Fatal(err)
	}
	d.env = append(d.env, "PATH="+bin+":"+os.Getenv("PATH")) // the last one counts
}

func TestAnAttemptWhoseServerIsKilledWhileItStartsLeavesNothing(t *testing.T) {
	t.Parallel()
	for what, does := range map[string]string{
		"before git made the worktree": "kill -9 $PPID; exit 1",
		"while git makes it":           "kill -9 $PPID",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			task := d.task("a task")
			d.end()
			env := d.env
			d.gitThat(does)
			d.reopen()
			start := args{
				"task_id": task, "executor": "SCRIPT", "prompt": "true", "request_id": "once",
				"repos": []args{{"repo_id": d.repo, "target_branch": "main"}},
			}
			d.beginCall("start_task_attempt", start)
			<-d.read
			if d.exit(); d.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("it was not killed: %s", d.cmd.ProcessState)
			}
			d.env = env
			d.reopen()
			// A git that is still at work has the attempt to itself.
			eventually(t, "nothing is left", func() bool {
				return field(t, d.must("list_task_attempts", args{"task_id": task}), "count") == "0"
			})
			if got := d.git(".", "branch", "--format=%(refname)") + d.git(".", "worktree", "list"); strings.Contains(got, "gantry/") || strings.Count(got, "\n") > 2 {
				t.Errorf("left behind: %s", got)
			}
			if left, err := os.ReadDir(filepath.Join(d.state, "board", "attempts")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
			if got := field(t, d.must("get_task", args{"task_id": task}), "status"); got != "todo" {
				t.Errorf("the task is %s", got)
			}
			first := field(t, d.must("start_task_attempt", start), "attempt_id")
			if again := field(t, d.must("start_task_attempt", start), "attempt_id"); again != first {
				t.Errorf("the same request made %s and %s", first, again)
			}
			d.settled(first)
		})
	}
}
