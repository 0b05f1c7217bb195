package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/codextest"
	"github.com/gantry-run/gantry/internal/proc"
)

// withCodex puts the real Codex CLI, pointed at a model of our own, into the world's
// environment.
func (w *world) withCodex() *codextest.Server {
	w.t.Helper()
	program, model := codextest.Program(w.t), codextest.New(w.t)
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + filepath.Dir(program) + string(filepath.ListSeparator) + path
		}
	}
	w.env = append(w.env, "CODEX_HOME="+filepath.Dir(model.Config))
	w.endAgents()
	return model
}

// endAgents sees to it that no agent outlives the test, however it ends: they do not end with
// their server.
func (w *world) endAgents() {
	w.t.Helper()
	s, err := proc.NewSupervisor(proc.SupervisorOptions{Dir: filepath.Join(w.state, "procs"), Home: w.home})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		all, err := s.List()
		for _, st := range all {
			if !st.State.Ended() {
				_, err = s.Stop(context.Background(), st.Key, time.Second)
			}
		}
		if err != nil {
			w.t.Error(err)
		}
	})
}

// agentTask is a task of the toolset agents, as far as these tests look at it.
type agentTask struct {
	ID         string `json:"task_id"`
	Thread     string `json:"thread_id"`
	State      string `json:"state"`
	LastPrompt string `json:"last_prompt"`
	LastResult string `json:"last_result"`
	Error      string `json:"error"`
	WorkingDir string `json:"working_dir"`
	Executor   string `json:"executor"`
	PID        int    `json:"pid"`
}

// agentLog is a piece of its log.
type agentLog struct {
	State string   `json:"state"`
	Lines []string `json:"lines"`
	Next  int64    `json:"next_after"`
}

// follower reads the log of a task to its end.
type follower struct {
	p     *peer
	id    string
	after int64
	lines []string
}

// read waits for lines and returns them with the task's state.
func (f *follower) read() (lines []string, state string) {
	f.p.t.Helper()
	l := into[agentLog](f.p, f.p.must("task_log", args{"task_id": f.id, "after": f.after, "follow": true, "wait_ms": 5000}))
	f.after, f.lines = l.Next, append(f.lines, l.Lines...)
	return l.Lines, l.State
}

// until reads on until a line holds the text.
func (f *follower) until(text string) {
	f.p.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		lines, state := f.read()
		if strings.Contains(strings.Join(lines, "\n"), text) {
			return
		}
		if time.Now().After(deadline) || state != "RUNNING" && len(lines) == 0 {
			f.p.t.Fatalf("no %q in the log of a task that is %s:\n%s", text, state, strings.Join(f.lines, "\n"))
		}
	}
}

// untilOver reads on until the turn is over.
func (f *follower) untilOver() {
	f.p.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		lines, state := f.read()
		if state != "RUNNING" && len(lines) == 0 {
			return
		}
		if time.Now().After(deadline) {
			f.p.t.Fatalf("the task is %s:\n%s", state, strings.Join(f.lines, "\n"))
		}
	}
}

func into[T any](p *peer, raw json.RawMessage) (v T) {
	p.t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		p.t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// The real Codex works in the background: it is started, followed while it works, asked
// again in the same conversation, stopped and put away. What it edits is in the folder.
func TestTheRealCodexIsLedFromItsStartToTheArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := w.withCodex()
	p := w.serve(stateful, "--toolsets=agents", "--agents-full-access")
	dir := filepath.Join(w.root, "plain")

	task := into[agentTask](p, p.must("task_start", args{
		"prompt": "say: I begin\nwrite: a.txt hello\nwait: gate\npatch: b.txt new\nsay: finished", "title": "files", "working_dir": dir, "request_id": "start-1",
	}))
	if task.State != "RUNNING" || task.ID == "" || task.ID != task.Thread || task.Executor != "CODEX" {
		t.Fatalf("started: %+v", task)
	}
	log := &follower{p: p, id: task.ID}
	log.until(`"text":"I begin"`)
	if b, err := os.ReadFile(filepath.Join(dir, "b.txt")); err == nil {
		t.Errorf("b.txt is there before the model said so: %q", b)
	}
	model.Open("gate")
	log.untilOver()
	for _, part := range []string{`"thread.started"`, `"file_change"`, "hello", `"text":"finished"`, `"turn.completed"`} {
		if !strings.Contains(strings.Join(log.lines, "\n"), part) {
			t.Errorf("no %s in the log:\n%s", part, strings.Join(log.lines, "\n"))
		}
	}
	for file, want := range map[string]string{"a.txt": "hello\n", "b.txt": "new\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}

	p.must("task_send", args{"task_id": task.ID, "prompt": "run: cat a.txt b.txt\nsay: and again", "request_id": "send-1"})
	log.untilOver()
	if now := into[agentTask](p, p.must("task_status", args{"task_id": task.ID})); now.LastResult != "and again" || now.State != "STOPPED" || now.Thread != task.Thread {
		t.Errorf("after the second prompt: %+v", now)
	}
	asked := model.Requests()
	if last := asked[len(asked)-1]; len(last.Prompts) != 2 || len(last.Outputs) != 1 || !strings.Contains(last.Outputs[0], "hello\\nnew") {
		t.Errorf("the model was asked %+v", last)
	}

	p.must("task_send", args{"task_id": task.ID, "prompt": "run: true\nwait: never"})
	log.until(`"exit_code":0`)
	running := into[agentTask](p, p.must("task_status", args{"task_id": task.ID}))
	if running.State != "RUNNING" || running.PID == 0 {
		t.Errorf("while it works: %+v", running)
	}
	if out := string(p.must("task_stop", args{"task_id": task.ID})); !strings.Contains(out, `"stopped"`) {
		t.Errorf("stopped: %s", out)
	}
	if now := into[agentTask](p, p.must("task_status", args{"task_id": task.ID})); now.State != "STOPPED" || now.PID != 0 {
		t.Errorf("after the stop: %+v", now)
	}

	archived := into[struct{ Destination string }](p, p.must("task_archive", args{"task_id": task.ID}))
	if !strings.HasSuffix(archived.Destination, task.ID) {
		t.Errorf("archived to %q", archived.Destination)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(model.Config), "tasks", "archive", "*", "*", "*", task.ID, "task.json")); len(found) != 1 {
		t.Errorf("the archive of the store holds %v", found)
	}
	type list struct{ Tasks []agentTask }
	if l := into[list](p, p.must("task_list", args{})); len(l.Tasks) != 0 {
		t.Errorf("listed: %+v", l)
	}
	if l := into[list](p, p.must("task_list", args{"include_archived": true})); len(l.Tasks) != 1 || l.Tasks[0].State != "ARCHIVED" {
		t.Errorf("listed with the archived: %+v", l)
	}
}
