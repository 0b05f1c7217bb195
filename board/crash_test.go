package board

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// crashVar makes the test binary the process that starts an attempt and dies: the world's
// folder, where it dies, the task and the repositories, one a line.
const crashVar = "GANTRY_BOARD_CRASH"

var crashAsk = Ask{Tool: "start_task_attempt", Once: &runs.Once{Key: "k", Hash: "h"}}

// TestTheProcessThatDies is the process of the test below.
func TestTheProcessThatDies(t *testing.T) {
	args := strings.Split(os.Getenv(crashVar), "\n")
	if len(args) < 4 {
		return // it is not that process
	}
	dir, where := args[0], args[1]
	die := func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	fake := &fakeSessions{dir: filepath.Join(dir, "sessions"), now: time.Now}
	switch where {
	case "before the session":
		fake.before = die
	case "after the session":
		fake.after = die
	}
	env := gitEnv(dir)
	env[0] = "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")
	b := must(Open(t.Context(), options(t, dir, env, fake, time.Now, nil)))(t)
	var targets []RepoTarget
	for _, id := range args[3:] {
		targets = append(targets, RepoTarget{id, "main"})
	}
	_, err := b.StartAttempt(t.Context(), crashAsk, NewAttempt{TaskID: args[2], Executor: "SCRIPT", Repos: targets})
	t.Fatalf("it lives: %v", err)
}

// gitThat puts a git into the world's bin that does something when it adds a worktree of
// the repository.
func (w *world) gitThat(repo, does string) {
	w.t.Helper()
	real := w.sh("/", "command -v git")
	w.sh(w.dir, "mkdir -p bin; cat >bin/git <<'EOF'\n#!/bin/sh\ncase \"$PWD $*\" in */"+repo+"\\ *'worktree add'*) "+does+";; esac\nexec "+real+" \"$@\"\nEOF\nchmod +x bin/git")
}

// crash starts an attempt in a process that is killed.
func (w *world) crash(where string, task Task, targets []RepoTarget) {
	w.t.Helper()
	args := []string{w.dir, where, task.ID}
	for _, r := range targets {
		args = append(args, r.RepoID)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTheProcessThatDies$")
	cmd.Env = append(os.Environ(), crashVar+"="+strings.Join(args, "\n"))
	out, err := cmd.CombinedOutput()
	if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGKILL {
		w.t.Fatalf("it was not killed: %v\n%s", err, out)
	}
}

func TestAStartThatIsKilledIsUndoneOrFinished(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where, repo, does string
		finished, read    bool
	}{
		{where: "before the first worktree", repo: "api", does: "kill -9 $PPID; exit 1"},
		{where: "before the second worktree", repo: "web", does: "kill -9 $PPID; exit 1"},
		{where: "while git is at work", repo: "web", does: "kill -9 $PPID"}, // git lives on
		{where: "before the session"},
		{where: "before the session", read: true},
		{where: "after the session", finished: true},
		{where: "after the session", finished: true, read: true},
	} {
		t.Run(fmt.Sprint(c.where, c.read), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p, targets := w.project("api", "web")
			task := w.task(p, "x")
			if c.repo != "" {
				w.gitThat(c.repo, c.does)
			}
			w.crash(c.where, task, targets)
			var id string
			if err := w.b.db.QueryRow(`SELECT attempt_id FROM attempts WHERE phase = 'starting'`).Scan(&id); err != nil {
				t.Fatal("it had no intent: ", err)
			}
			w.waitLease(id)
			if c.read {
				must(w.b.Tasks(t.Context(), TaskFilter{ProjectID: p.ID}))(t)
			} else {
				w.open(nil)
			}
			req := NewAttempt{TaskID: task.ID, Executor: "SCRIPT", Repos: targets}
			if !c.finished {
				w.nothingLeft("api", "web")
				if got := w.status(task); got != Todo {
					t.Errorf("the task is %s", got)
				}
				if a := must(w.b.StartAttempt(t.Context(), crashAsk, req))(t); a.ID == id || a.State != Running {
					t.Errorf("the same request again: %+v", a)
				}
				return
			}
			a := must(w.b.StartAttempt(t.Context(), crashAsk, req))(t)
			if a.ID != id || a.State != Running || len(a.Repos) != 2 || w.status(task) != InProgress {
				t.Errorf("the same request again: %+v", a)
			}
			if page := must(w.b.Attempts(t.Context(), task.ID, 0, ""))(t); page.Count != 1 || page.LatestSessionID != a.SessionID {
				t.Errorf("%+v", page)
			}
		})
	}
}

// waitLease returns when nobody has the lease of the attempt: no git of the killed process
// is at work any more.
func (w *world) waitLease(id string) {
	w.t.Helper()
	lease, err := proc.TakeLease(w.t.Context(), w.b.leaseFile(id), false)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatAnotherProcessIsMakingIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	task := w.task(p, "x")
	// Git outlives the process that started it, and waits.
	w.sh(w.dir, "mkfifo go")
	w.gitThat("web", "kill -9 $PPID; read x <"+w.dir+"/go")
	t.Cleanup(func() { // also when the test fails
		if f, err := os.OpenFile(w.dir+"/go", os.O_RDWR, 0); err == nil {
			f.Write([]byte("x\n"))
			f.Close()
		}
	})
	w.crash("while git is at work", task, targets)
	page := must(w.b.Attempts(t.Context(), task.ID, 0, ""))(t)
	if page.Count != 1 || page.LatestSessionID != "" || page.Attempts[0].State != Idle || page.Attempts[0].SessionID != "" {
		t.Fatalf("while it is being made: %+v", page)
	}
	a := page.Attempts[0]
	if err := w.b.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := w.b.Session(t.Context(), a.ID)
	wants(t, "its session", err, fault.NoSessionYet)
	_, err = w.b.Changes(t.Context(), a.ID, false)
	wants(t, "its changes", err, fault.AttemptRunning)
	_, err = w.b.DeleteTask(t.Context(), Ask{}, task.ID)
	wants(t, "delete", err, fault.AttemptRunning)
	_, err = w.b.StartAttempt(t.Context(), crashAsk, NewAttempt{TaskID: task.ID, Executor: "SCRIPT", Repos: targets})
	wants(t, "the same request", err, fault.IdempotencyInProgress)
	if c := must(w.b.Clean(t.Context(), Retention{AttemptIDs: []string{a.ID}}))(t); len(c) != 1 || c[0].Removed || c[0].Kept[0].Reason != KeptRunning {
		t.Errorf("%+v", c)
	}
	if err := os.WriteFile(w.dir+"/go", []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	w.waitLease(a.ID)
	if err := w.b.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.nothingLeft("api", "web")
}
