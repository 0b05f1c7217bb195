package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/internal/agenttest"
)

// withClaude puts an agent into the world that writes what Claude Code writes, and does what
// its prompt orders.
func (w *world) withClaude() *peer {
	w.t.Helper()
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + agenttest.Install(w.t) + string(filepath.ListSeparator) + path
		}
	}
	w.env = append(w.env, "CODEX_HOME="+w.t.TempDir(), "ANTHROPIC_API_KEY="+anthropicKey)
	w.endAgents()
	return w.serve(stateful, "--toolsets=agents")
}

const anthropicKey = "a-key-that-nobody-may-see-0123456789"

// claude starts a turn of Claude Code and returns the task when it is over, with its log.
func (p *peer) claude(tool string, a args) (agentTask, string) {
	p.t.Helper()
	if tool == "task_start" {
		a["executor"] = "claude-code"
	}
	log := &follower{p: p, id: into[agentTask](p, p.must(tool, a)).ID}
	log.untilOver()
	return into[agentTask](p, p.must("task_status", args{"task_id": log.id})), strings.Join(log.lines, "\n")
}

func TestClaudeCodeWorksThroughItsStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.withClaude()
	task, log := p.claude("task_start", args{"prompt": "think: hm\nwrite: a.txt hello\nrun: cat a.txt; exit 3\nsay: finished", "working_dir": w.root})
	if task.State != "STOPPED" || task.LastResult != "finished" || task.Executor != "CLAUDE_CODE" || task.ID != task.Thread || task.ID == "" {
		t.Errorf("%+v", task)
	}
	for _, part := range []string{`"subtype":"init"`, `"thinking":"hm"`, `"content":"hello\n","is_error":true`, `"result":"finished"`} {
		if !strings.Contains(log, part) {
			t.Errorf("no %s in\n%s", part, log)
		}
	}
	if b, err := os.ReadFile(filepath.Join(w.root, "a.txt")); string(b) != "hello\n" {
		t.Errorf("a.txt: %q, %v", b, err)
	}
	failed, _ := p.claude("task_send", args{"task_id": task.ID, "prompt": "fail: no credit is left"})
	if failed.State != "DIED" || !strings.Contains(failed.Error, "no credit is left") {
		t.Errorf("after a turn that failed: %+v", failed)
	}
	again, _ := p.claude("task_send", args{"task_id": task.ID, "prompt": "say: and again"})
	if again.State != "STOPPED" || again.LastResult != "and again" || again.Thread != task.Thread {
		t.Errorf("after that: %+v", again)
	}
}

// Garbage, events of the future, one of 50 MB and half a one: the next event is read.
func TestNothingThatAnAgentWritesEndsItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.withClaude()
	task, log := p.claude("task_start", args{"working_dir": w.root, "prompt": strings.Join([]string{
		"print: this is no JSON", `print: {"type":`, `print: {"type":"from.the.future","x":[1]}`, `print: {"type":5,"message":[]}`, "huge: 50", "complain: careful",
		"say: still here", "half:", "exit: 0",
	}, "\n")})
	if task.State != "STOPPED" || task.LastResult != "still here" {
		t.Errorf("%+v", task)
	}
	for _, part := range []string{"this is no JSON", "from.the.future", "careful", "still here"} {
		if !strings.Contains(log, part) {
			t.Errorf("no %q in the log of %d bytes", part, len(log))
		}
	}
}

// What an agent prints of its keys is masked wherever it leaves.
func TestAKeyThatAnAgentPrintsIsMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.withClaude()
	task, log := p.claude("task_start", args{"working_dir": w.root, "prompt": "run: echo key $ANTHROPIC_API_KEY; test -n \"$ANTHROPIC_API_KEY\"\nsay: it is " + anthropicKey})
	if task.State != "STOPPED" || !strings.Contains(log, "key ") || !strings.Contains(log, `"is_error":false`) {
		t.Errorf("%+v\n%s", task, log)
	}
	list := string(p.must("task_list", args{}))
	for place, text := range map[string]string{
		"the log": log, "the status": task.LastResult, "the prompt": task.LastPrompt, "the list": list, "standard error": strings.Join(p.err.lines(), "\n"),
	} {
		if strings.Contains(text, anthropicKey) {
			t.Errorf("the key is in %s", place)
		}
	}
	p.end()
	for _, r := range w.records() {
		if b, err := json.Marshal(r); err != nil || strings.Contains(string(b), anthropicKey) {
			t.Errorf("a record: %s, %v", b, err)
		}
	}
}

// What an agent leaves behind ends with its turn.
func TestADaemonOfAnAgentEndsWithTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.withClaude()
	file := filepath.Join(w.root, "daemon")
	task, _ := p.claude("task_start", args{"working_dir": w.root, "prompt": "daemon: " + file + "\nclose:\nsay: nobody hears this"})
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("the daemon %d lives, %v", pid, err)
	}
	if task.State != "STOPPED" {
		t.Errorf("%+v", task)
	}
}
