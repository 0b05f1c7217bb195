package sessions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/internal/proc/proctest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
)

// TestMain lets the test binary be the shim that supervises a process.
func TestMain(m *testing.M) {
	if proc.IsShim(os.Args) {
		os.Exit(proc.Shim(os.Args))
	}
	code := m.Run()
	if left := proctest.Marked(testMark()); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "processes survive the tests:", left)
		code = 1
	}
	os.Exit(code)
}

// testMark is in the environment of everything that these tests start.
func testMark() string { return "GANTRY_TEST=" + strconv.Itoa(os.Getpid()) }

// agent is a codex that does what the first word of its prompt says.
const agent = `#!/bin/sh
resumed=no
while [ $# -gt 0 ]; do
	[ "$1" = resume ] && resumed=$2
	shift
done
prompt=$(cat)
word=${prompt%% *}
echo "$prompt" >>prompts
thread=$resumed
[ $thread = no ] && thread=thread-$(basename "$PWD")
said() { printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"%s"}}\n' "$1"; }
[ "$word" = early ] && exit 9
printf '{"type":"thread.started","thread_id":"%s"}\n' "$thread"
case $word in
deaf) trap '' INT TERM ;;
polite) trap 'said interrupted; exit 0' INT ;;
esac
case $word in
wait) said waiting; read line <gate ;;
deaf|polite) said stubborn; echo $$ >pid; while :; do sleep 0.05; done ;;
fail) echo "no luck today" >&2; exit 3 ;;
mixed) for i in 1 2 3 4 5 6 7 8; do said "out $i"; echo "err $i" >&2; done ;;
broken) printf '{"type":\n\377\376 not json\n{"type":"a.new.thing","x":1}\nhalf a li' ;;
esac
said "$word of $resumed"
printf '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":3,"output_tokens":2}}\n'
`

// lab is a machine: programs come and go on its state directory.
type lab struct {
	t                testing.TB
	dir, state, work string
	env              []string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir, state: dir + "/state", work: dir + "/work", env: []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "HOME=" + dir, "CODEX_TEST=1", testMark()}}
	l.write("bin/codex", agent, 0o755)
	if err := os.MkdirAll(l.work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(l.work+"/gate", 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sup, _ := proc.NewSupervisor(proc.SupervisorOptions{Dir: l.state + "/procs"})
		all, _ := sup.List()
		for _, st := range all {
			_, _ = sup.Stop(context.Background(), st.Key, 1)
		}
	})
	return l
}

func (l *lab) write(name, text string, mode os.FileMode) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
}

// open lets the agent go on that waits.
func (l *lab) open() {
	l.t.Helper()
	if err := os.WriteFile(l.work+"/gate", []byte("\n"), 0); err != nil {
		l.t.Fatal(err)
	}
}

// prompts returns what the agent was asked, in its order.
func (l *lab) prompts() []string {
	b, _ := os.ReadFile(l.work + "/prompts")
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// program is a server on the lab: everything that a process has.
type program struct {
	*Sessions
	l   *lab
	eng *local.Engine
}

// start starts a program.
func (l *lab) start() *program {
	l.t.Helper()
	store, err := runs.OpenStore(l.state, runs.StoreOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	sup, err := proc.NewSupervisor(proc.SupervisorOptions{Dir: l.state + "/procs"})
	if err != nil {
		l.t.Fatal(err)
	}
	registry, err := agents.CLIs(agents.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	o := Options{Store: store, Supervisor: sup, Agents: registry, Dir: l.state + "/sessions", Env: l.env}
	p := &program{l: l, eng: local.New(local.Options{Store: store, Workers: Workers(o), Backoff: func(int) time.Duration { return time.Millisecond }})}
	o.Engine = p.eng
	p.Sessions = New(o)
	l.t.Cleanup(p.exit)
	return p
}

// exit ends the program. The agents are left alone.
func (p *program) exit() {
	_ = p.eng.Close(context.Background())
	_ = p.o.Store.Close()
}

// request asks for a session of the lab.
func (l *lab) request(prompt string) StartRequest {
	return StartRequest{Executor: "codex", Prompt: prompt, Dir: l.work, View: l.dir + "/tasks", Title: "a title"}
}

func (p *program) begin(prompt string) Session {
	p.l.t.Helper()
	s, err := p.Start(p.l.t.Context(), p.l.request(prompt))
	if err != nil {
		p.l.t.Fatal(err)
	}
	return s
}

// until returns the session when it is so.
func (p *program) until(id runs.ID, what string, enough func(Session) bool) Session {
	p.l.t.Helper()
	ctx, cancel := context.WithTimeout(p.l.t.Context(), patience)
	defer cancel()
	s, err := p.Wait(ctx, "", id, enough)
	if err != nil {
		p.l.t.Fatalf("waiting for %s: %v; it is %+v", what, err, s)
	}
	return s
}

// patience is how long anything may take before a test gives up.
const patience = 30 * time.Second

// rest returns the session when no turn is under way.
func (p *program) rest(id runs.ID) Session {
	p.l.t.Helper()
	return p.until(id, "the end of the turn", func(s Session) bool { return s.State != Running && s.Last.State != TurnRunning })
}

// said returns the session when an agent has said something in its newest turn.
func (p *program) said(id runs.ID, text string) Session {
	p.l.t.Helper()
	return p.until(id, text, func(s Session) bool {
		return s.Thread != "" && strings.Contains(strings.Join(p.history(s.ID, s.Last, entries.Normalized), "\n"), text)
	})
}

// history returns the entries of a turn, a line each.
func (p *program) history(id runs.ID, turn Turn, ch entries.Channel) (out []string) {
	p.l.t.Helper()
	page, err := p.o.Entries.Page(string(id), turn.ID, ch, entries.Query{Limit: 1000})
	if err != nil {
		p.l.t.Fatal(err)
	}
	for _, item := range page.Entries {
		e, err := item.Decode()
		if err != nil {
			p.l.t.Fatal(err)
		}
		if e.Norm != nil {
			out = append(out, string(e.Norm.Type.Name)+" "+e.Norm.Content)
		} else {
			out = append(out, string(e.Kind)+" "+e.Text)
		}
	}
	return out
}
