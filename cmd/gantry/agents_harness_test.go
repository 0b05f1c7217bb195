package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentScript is a codex that does what the first word of its prompt says.
const agentScript = `#!/bin/sh
resumed=no
sandbox=none
while [ $# -gt 0 ]; do
	[ "$1" = resume ] && resumed=$2
	[ "$1" = --sandbox ] && sandbox=$2
	shift
done
prompt=$(cat)
word=${prompt%% *}
printf '%s\n' "$prompt" >>"$PROMPTS"
thread=$resumed
[ $thread = no ] && thread=thread-$(wc -l <"$PROMPTS" | tr -d ' ')
[ "$word" = evil ] && thread=../../evil
said() { printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"%s"}}\n' "$1"; }
[ "$word" = early ] && { echo "no login" >&2; exit 9; }
[ "$word" = slow ] && read line <"$GATE"
printf '{"type":"thread.started","thread_id":"%s"}\n' "$thread"
[ "$word" = deaf ] && trap '' INT TERM
case $word in
wait) said waiting; read line <"$GATE" ;;
deaf|long) said busy; echo $$ >"$GATE.pid"; while :; do sleep 0.05; done ;;
fail) echo "no luck today" >&2; exit 3 ;;
secret) said "$OPENAI_API_KEY" ;;
where) said "$PWD $sandbox $CODEX_HOME" ;;
esac
said "$word of $resumed"
printf '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":3,"output_tokens":2}}\n'
`

// studio is a world with a codex, and a task store in its home.
type studio struct {
	*world
	store string
	gate  string
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	w := newBareWorld(t)
	s := &studio{world: w, store: filepath.Join(w.home, ".codex", "tasks"), gate: filepath.Join(w.home, "gate")}
	bin := w.bin()
	mkdir(t, bin)
	write(t, filepath.Join(bin, "codex"), agentScript)
	if err := os.Chmod(filepath.Join(bin, "codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(s.gate, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + bin + string(filepath.ListSeparator) + path
		}
	}
	w.env = append(w.env, "CODEX_TEST=1")
	write(t, filepath.Join(w.home, ".config", "gantry", "gantry.toml"), "[agents]\ninherit = [\"GATE\", \"PROMPTS\"]\n")
	w.env = append(w.env, "GATE="+s.gate, "PROMPTS="+filepath.Join(w.home, "prompts"))
	return s
}

// agents serves the toolset.
func (s *studio) agents(flags ...string) *peer {
	return s.serve(stateful, append([]string{"--toolsets=agents", "--rate-limit=0"}, flags...)...)
}

// open lets the agent go on that waits.
func (s *studio) open() {
	s.t.Helper()
	if err := os.WriteFile(s.gate, []byte("\n"), 0); err != nil {
		s.t.Fatal(err)
	}
}

// prompts returns what agents were asked, in its order.
func (s *studio) prompts() []string {
	b, _ := os.ReadFile(filepath.Join(s.home, "prompts"))
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// aTask is a task as the tools show it.
type aTask struct {
	ID         string     `json:"task_id"`
	Session    *string    `json:"session_id"`
	Thread     *string    `json:"thread_id"`
	Title      string     `json:"title"`
	State      string     `json:"state"`
	Created    time.Time  `json:"created_at"`
	Updated    time.Time  `json:"updated_at"`
	LastPrompt string     `json:"last_prompt"`
	PromptedAt *time.Time `json:"last_prompt_at"`
	LastResult string     `json:"last_result"`
	Error      string     `json:"error"`
	WorkingDir string     `json:"working_dir"`
	PID        int        `json:"pid"`
	Executor   string     `json:"executor"`
}

// began starts a task.
func (p *peer) began(a args) (out aTask) {
	p.t.Helper()
	p.fetch("task_start", a, &out)
	return out
}

// taskIn returns the task once it is in a state.
func (p *peer) taskIn(id, state string) (out aTask) {
	p.t.Helper()
	eventually(p.t, id+" is "+state, func() bool {
		out = aTask{}
		p.fetch("task_status", args{"task_id": id}, &out)
		return out.State == state
	})
	return out
}

// aLog is what task_log answers.
type aLog struct {
	ID    string   `json:"task_id"`
	State string   `json:"state"`
	Lines []string `json:"lines"`
	First int64    `json:"first_line"`
	Next  int64    `json:"next_after"`
	Total int64    `json:"total_lines"`
}

func (p *peer) log(a args) (out aLog) {
	p.t.Helper()
	p.fetch("task_log", a, &out)
	return out
}

// saidInLog waits until a task's log holds a text.
func (p *peer) saidInLog(id, text string) {
	p.t.Helper()
	eventually(p.t, "the log says "+text, func() bool {
		return strings.Contains(strings.Join(p.log(args{"task_id": id}).Lines, "\n"), text)
	})
}

// page is what task_list answers.
type page struct {
	Tasks []aTask `json:"tasks"`
	Count int     `json:"count"`
	Next  *string `json:"next_cursor"`
}

func (p *peer) taskPage(a args) (out page) {
	p.t.Helper()
	p.fetch("task_list", a, &out)
	return out
}

// ids returns the ids of a page's tasks.
func (g page) ids() (out []string) {
	for _, t := range g.Tasks {
		out = append(out, t.ID)
	}
	return out
}

// taskFile reads a file of the task store.
func (s *studio) taskFile(parts ...string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{s.store}, parts...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// meta is what task.json holds.
func (s *studio) meta(parts ...string) (out map[string]any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.taskFile(append(parts, "task.json")...)), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}
