package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/internal/proc/proctest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/targets"
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

// patience is how long anything may take before a test gives up.
const patience = 30 * time.Second

// scripts are the targets of the project, one file each. A script that waits does so for
// a pipe that nobody opens, or for the test to open it.
var scripts = map[string]string{
	"hello":      "echo hello",
	"code":       "echo failing >&2; exit 7",
	"forever":    "echo waiting; exec sleep 1000",
	"deaf":       "trap '' TERM; echo deaf; while :; do sleep 0.05; done",
	"gated":      "echo before; read line <gate; echo after $line; exit 3",
	"dies":       "kill -KILL $$",
	"show_env":   "echo [$TOKEN]",
	"show_trace": "echo [$TRACEPARENT][$TRACESTATE]",
	"count":      "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done",
	"binary":     "head -c 20000 /dev/zero | tr '\\0' '\\377'",
}

// lab is a project with a state directory. Programs come and go in it.
type lab struct {
	t           testing.TB
	root, state string
	env         []string
	allow       targets.AllowFiles
}

func newLab(t testing.TB) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, root: dir + "/project", state: dir + "/state", env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + "/home", testMark(),
		"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "TRACESTATE=a=b"}}
	l.allow = targets.AllowFiles{Home: dir + "/home", ConfigHome: dir + "/home/.config"}
	for name, text := range scripts {
		l.script(name, "#!/bin/sh\n"+text+"\n")
	}
	if err := syscall.Mkfifo(filepath.Join(l.root, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.allow.Allow(targets.Entry{Path: l.root, Scope: targets.ScopeDirectory}); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *lab) script(name, text string) {
	l.t.Helper()
	if err := os.MkdirAll(l.root, 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.root, name+".sh"), []byte(text), 0o755); err != nil {
		l.t.Fatal(err)
	}
}

// program is a server on the lab: everything that a process has.
type program struct {
	*Service
	l     *lab
	store *runs.Store
	sup   *proc.Supervisor
	eng   *local.Engine
}

// open starts a program, whose options the change may change.
func (l *lab) open(change func(*Options)) *program {
	l.t.Helper()
	p := &program{l: l}
	var err error
	if p.store, err = runs.OpenStore(l.state, runs.StoreOptions{}); err != nil {
		l.t.Fatal(err)
	}
	if p.sup, err = proc.NewSupervisor(proc.SupervisorOptions{Dir: filepath.Join(l.state, "procs")}); err != nil {
		l.t.Fatal(err)
	}
	project, err := targets.Open(l.root, targets.Options{Env: l.env, Allowlist: l.allow})
	if err != nil {
		l.t.Fatal(err)
	}
	hand := new(HandOff)
	p.eng = local.New(local.Options{
		Store: p.store, Workers: map[string]runs.Activity{WorkerName: Worker(WorkerOptions{Store: p.store, Supervisor: p.sup, HandOff: hand})},
	})
	o := Options{Store: p.store, Engine: p.eng, Supervisor: p.sup, Project: project, HandOff: hand, Root: l.root}
	if change != nil {
		change(&o)
	}
	p.Service = NewService(o)
	l.t.Cleanup(p.exit)
	return p
}

// exit ends the program as it does when its client leaves.
func (p *program) exit() {
	_, _ = p.Close(p.eng.Driven)
	p.die()
}

// die ends the program without a word to the processes that it supervises.
func (p *program) die() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.eng.Close(ctx); err != nil {
		p.l.t.Error(err)
	}
	p.store.Close()
}

// start starts a target, which must succeed.
func (p *program) start(name string, wait time.Duration, change func(*Request)) Started {
	p.l.t.Helper()
	r := Request{Request: targets.Request{Name: name}, Wait: wait}
	if change != nil {
		change(&r)
	}
	s, err := p.Start(p.l.t.Context(), Ask{}, r)
	if err != nil {
		p.l.t.Fatalf("start %s: %v", name, err)
	}
	return s
}

// over waits until the journal says that a job is over, and returns the job.
func (p *program) over(id runs.ID) (Job, *runs.View) {
	p.l.t.Helper()
	ctx, cancel := context.WithTimeout(p.l.t.Context(), patience)
	defer cancel()
	v, err := p.store.Until(ctx, id, func(v *runs.View) bool { return v.State.Terminal() })
	if err != nil {
		p.l.t.Fatal(err)
	}
	j, err := p.job(v)
	if err != nil {
		p.l.t.Fatal(err)
	}
	return j, v
}

// events returns the types of a run's events, and the last process that one tells of.
func (p *program) events(id runs.ID) (types []runs.EventType, last runs.Process) {
	p.l.t.Helper()
	for e, err := range p.store.Events(id, 0) {
		if err != nil {
			p.l.t.Fatal(err)
		}
		types = append(types, e.Type)
		if strings.HasPrefix(string(e.Type), "PROCESS_") {
			last = runs.Process{}
			if err := json.Unmarshal(e.Payload, &last); err != nil {
				p.l.t.Fatal(err)
			}
		}
	}
	return types, last
}

// openGate lets the target gated go on.
func (l *lab) openGate(word string) {
	l.t.Helper()
	f, err := os.OpenFile(filepath.Join(l.root, "gate"), os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(word + "\n"); err != nil {
		l.t.Fatal(err)
	}
}

// refused fails the test unless err is a fault with the code.
func refused(t *testing.T, err error, code fault.Code) *fault.Fault {
	t.Helper()
	if !fault.Is(err, code) {
		t.Fatalf("got %v, want %s", err, code)
	}
	return fault.From(err)
}

// eventually waits for a fact that nothing tells of.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !fact() {
		if pause(ctx, 5*time.Millisecond) != nil {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func pids(jobs []Job) (out []int) {
	for _, j := range jobs {
		out = append(out, j.PID)
	}
	return out
}

func has(types []runs.EventType, want ...runs.EventType) bool {
	for _, w := range want {
		if !slices.Contains(types, w) {
			return false
		}
	}
	return true
}

func dead(pid int) bool { return syscall.Kill(pid, 0) != nil }
