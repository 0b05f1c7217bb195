package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// stop is a way in which a server is told to end.
type stop struct {
	name string
	do   func(*peer) int
}

func stops() []stop {
	return []stop{
		{"standard input ends", (*peer).end},
		{"SIGTERM", func(p *peer) int { return p.signal(syscall.SIGTERM) }},
		{"SIGINT", func(p *peer) int { return p.signal(syscall.SIGINT) }},
	}
}

// Calls that were accepted are answered, with their result or with SHUTTING_DOWN,
// and the exit code is 0.
func TestEveryAcceptedCallIsAnsweredAtTheEnd(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		for _, s := range stops() {
			t.Run(era+", "+s.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				p := w.serve(era, "--rate-limit=0")
				id := w.ready(p, nil)
				p.request("tools/list", nil)
				var answers []<-chan answer
				for range 20 {
					answers = append(answers, p.beginCall("launch_get_status", args{"run_id": id}), p.beginCall("launch_validate", args{"run_id": id}))
				}
				accepted := p.begin("tools/list", nil) // lines are read in order
				if s.name != "standard input ends" {
					p.wait(accepted)
				}
				if code := s.do(p); code != 0 {
					t.Errorf("exit code %d: %s", code, p.err)
				}
				for i, c := range answers {
					select {
					case a := <-c:
						if a.Error != nil && !slices.Contains([]string{"SHUTTING_DOWN", "RUN_LOCKED"}, a.Error.Data.Code) {
							t.Errorf("call %d: %s", i, a.Error)
						} else if a.Error != nil && !a.Error.Data.Retryable {
							t.Errorf("call %d may not be repeated: %s", i, a.Error)
						}
					default:
						t.Errorf("call %d has no answer", i)
					}
				}
				w.verify(id)
			})
		}
	}
}

// A run that is under way when its server ends goes on in a worker, up to where it
// waits for somebody.
func TestARunOutlivesItsServer(t *testing.T) {
	for _, s := range stops() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reached, let := w.holdGit()
			p := w.serve(stateful)
			id := p.start(nil)
			reached()
			if code := s.do(p); code != 0 {
				t.Errorf("exit code %d: %s", code, p.err)
			}
			let()
			workers := p.workers()
			if len(workers) != 1 {
				t.Fatalf("the log tells of the workers %v: %s", workers, p.err)
			}
			if v := w.rest(id); v.State != runs.StateReadyForPR {
				t.Errorf("the run rests in %s: %+v", v.State, v.Failure)
			}
			w.verify(id)
			p.stopWorkers()
			if left := mentioning(filepath.Dir(w.root)); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if text := read(t, filepath.Join(w.state, "worker.log")); strings.Contains(text, `"level":"ERROR"`) {
				t.Errorf("the worker says %s", text)
			}
		})
	}
}

// Without workers the run stays where it is, and a later process continues it.
func TestARunWithoutWorkerIsResumable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, let := w.holdGit()
	p := w.serve(stateless, "--no-worker")
	id := p.start(nil)
	reached()
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	let()
	if len(p.workers()) != 0 {
		t.Error("a worker was started")
	}
	if left := mentioning(filepath.Dir(w.root)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if !strings.Contains(p.err.String(), "launch_resume") || !strings.Contains(p.err.String(), id) {
		t.Errorf("the log does not say that %s is resumable: %s", id, p.err)
	}
	v, err := w.store.View(runs.ID(id))
	if err != nil || !v.Busy() || w.store.Driven(runs.ID(id)) {
		t.Fatalf("the run is %+v, %v", v, err)
	}
	w.verify(id)

	code, out, errOut := w.gantry("call", "launch_resume", "run_id="+id)
	if code != 0 || !strings.Contains(out, `"ok": true`) {
		t.Fatalf("launch_resume: %d %s %s", code, out, errOut)
	}
	if v := w.rest(id); v.State != runs.StateReadyForPR { // in the worker that the call left
		t.Errorf("the run rests in %s: %+v", v.State, v.Failure)
	}
	endWorkers(t, w.state)
}

// endWorkers ends the workers of the state directories in a folder, which nobody told of.
func endWorkers(t *testing.T, dir string) {
	t.Helper()
	signalWorkers(dir)
	eventually(t, "the workers end", func() bool { return len(mentioning(dir)) == 0 })
}
