package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What the seed of the tasks toolset says and no test near the code holds. All clauses,
// and who holds each, are in docs/conformance.md.

// script makes a task of the project.
func (w *world) script(name, text string) {
	w.t.Helper()
	write(w.t, filepath.Join(w.root, name+".sh"), "#!/bin/sh\n"+text+"\n")
}

// install makes further programs available to the tasks.
func (w *world) install(names ...string) {
	w.t.Helper()
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			w.t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(path, filepath.Join(w.bin(), name)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// bin is the folder that programs are found in.
func (w *world) bin() string { return filepath.Join(filepath.Dir(w.root), "bin") }

func TestNothingIsWrittenBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	cmd := exec.Command(binary, "mcp", "--toolsets=tasks", "--root", w.root, "--state-dir", w.state)
	cmd.Env = w.env
	out, err := cmd.Output()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %q", err, out)
	}
}

// The folder of the server is --cwd, or --root, or the one that it is started in.
func TestTheFolderOfTheServerIsCwdOrTheCurrentOne(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	for name, c := range map[string]struct {
		dir   string
		flags []string
	}{
		"--cwd":       {w.home, []string{"--cwd", w.root}},
		"--root":      {w.home, []string{"--root=" + w.root}},
		"the current": {w.root, nil},
	} {
		cmd := exec.Command(binary, append([]string{"tasks", "--state-dir", w.state}, c.flags...)...)
		cmd.Env, cmd.Dir = w.env, c.dir
		if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte("make build")) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		mcp := exec.Command(binary, append([]string{"mcp", "--toolsets=tasks", "--state-dir", w.state}, c.flags...)...)
		mcp.Env, mcp.Dir = w.env, c.dir
		mcp.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + stateful +
			`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_tasks","arguments":{}}}` + "\n")
		if out, err := mcp.Output(); err != nil || !bytes.Contains(out, []byte(`"unique_name":"build-m"`)) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// A client of the revision that the seed names is served, and told what the server can.
func TestTheRevisionOfTheSeedIsSpoken(t *testing.T) {
	t.Parallel()
	const old = "2024-11-05"
	p := newProject(t).serve("none", "--toolsets=tasks")
	a := p.request("initialize", map[string]any{
		"protocolVersion": old, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "peer", "version": "1"},
	})
	if a.Error != nil || field(t, a.Result, "protocolVersion") != old || field(t, a.Result, "capabilities.tools") == "" || field(t, a.Result, "serverInfo.version") == "" {
		t.Fatalf("%s %v", a.Result, a.Error)
	}
	p.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if !sameJSON(t, p.must("status", args{}), []byte(`{"running":[]}`)) {
		t.Error("nothing was started, and yet something runs")
	}
}

// Results without anything to add are the seed's examples, member for member.
func TestResultsAreThoseOfTheSeedsExamples(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("two", "echo Building...; echo Compiling... >&2")
	p := w.tasks()
	if out := p.must("task_status", args{"unique_name": "two"}); !sameJSON(t, out, []byte(`{"jobs":[]}`)) {
		t.Errorf("%s", out)
	}
	out := p.must("task_start", args{"unique_name": "two"})
	if want := `{"state":"exited","exit_code":0,"initial_output":"Building...\nCompiling...\n","truncated":false}`; !sameJSON(t, out, []byte(want)) {
		t.Errorf("%s", out)
	}
	pid := p.taskJobs()[0].PID
	out = p.must("task_output", args{"pid": pid, "lines": 100, "show_truncation": true})
	want := fmt.Sprintf(`{"pid":%d,"lines":["Building...","Compiling..."],"total_lines":2,"total_bytes":25,"truncated":false,"buffer_full":false,"next_from":25}`, pid)
	if !sameJSON(t, out, []byte(want)) {
		t.Errorf("%s", out)
	}
}

func TestARunnerThatIsMissingIsNamedWithHowToInstallIt(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	if err := os.Remove(filepath.Join(w.bin(), "make")); err != nil {
		t.Fatal(err)
	}
	p := w.tasks()
	if raw := p.must("list_tasks", args{"runner": "make", "limit": 1}); !strings.Contains(string(raw), `"runner_available":false`) {
		t.Errorf("%s", raw)
	}
	r := p.refused("task_start", args{"unique_name": "build-m"}, "RUNNER_UNAVAILABLE")
	if r.Code != -32011 || r.Message != "Runner 'make' is not available for task 'build-m'" ||
		r.Data.Hint != "Install make: brew install make (macOS) or apt-get install make (Ubuntu)" {
		t.Errorf("%s: %s", &r, r.Data.Hint)
	}
}

func TestAProcessThatCannotBeStartedIsAnInternalError(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	write(t, filepath.Join(w.root, "broken.sh"), "#!/no/such/interpreter\n")
	if err := os.Chmod(filepath.Join(w.root, "broken.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := w.tasks()
	r := p.refused("task_start", args{"unique_name": "broken"}, "SPAWN_FAILED")
	if r.Code != -32603 || !strings.HasPrefix(r.Message, "Failed to start process: ") || r.Data.Hint != "Check if the command and arguments are valid" {
		t.Errorf("%s: %s", &r, r.Data.Hint)
	}
	if j := p.taskJobs(); len(j) != 1 || j[0].State != "failed" || j[0].Error == "" {
		t.Errorf("%+v", j)
	}
}

// A task that a signal ends has failed: there is no pid, and no code but the signal.
func TestAStartTellsOfAFailure(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("dies", "echo last words; kill -KILL $$")
	out := w.tasks().must("task_start", args{"unique_name": "dies"})
	for path, want := range map[string]string{"state": "failed", "signal": "SIGKILL", "pid": "", "exit_code": "", "initial_output": "last words\n"} {
		if got := field(t, out, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if field(t, out, "error") == "" {
		t.Error("it does not say why")
	}
}

func TestEnvironmentAndFolderOfACallReachTheTask(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("where", `echo "$NODE_ENV in $PWD, $# arguments: $*"`)
	mkdir(t, filepath.Join(w.root, "sub"))
	p := w.tasks()
	more := args{"unique_name": "where", "args": []string{"one", "two"}, "env": args{"NODE_ENV": "development"}, "cwd": "sub"}
	const want = "development in sub, 2 arguments: one two\n" // the root's own path is not told
	if out := p.must("task_start", more); field(t, out, "initial_output") != want {
		t.Errorf("%s, want %s", out, want)
	}
	more["cwd"] = filepath.Join(w.root, "sub") // absolute, as the seed has it
	if out := p.must("task_start", more); field(t, out, "initial_output") != want {
		t.Errorf("%s, want %s", out, want)
	}
	if j := p.taskJobs()[0]; j.Cwd != "sub" || !slices.Equal(j.Args, []string{"one", "two"}) {
		t.Errorf("%+v", j)
	}
}

func TestATaskReadsNothingFromItsInput(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("asks", "read answer || echo nobody answers")
	out := w.tasks().must("task_start", args{"unique_name": "asks", "wait_for_exit_seconds": 50})
	if field(t, out, "initial_output") != "nobody answers\n" {
		t.Errorf("%s", out)
	}
}

// One name started twice with different arguments is two jobs, each under its own pid.
func TestInstancesOfATaskAreToldApart(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("serve", `echo port $1; sleep 1000`)
	p := w.tasks()
	pids := map[int]string{}
	for _, port := range []string{"1", "2"} {
		pids[p.startTask("serve", args{"args": []string{port}, "wait_for_exit_seconds": 0})] = port
	}
	p.must("task_start", args{"unique_name": "test"})
	var out struct{ Jobs []taskJob }
	if err := json.Unmarshal(p.must("task_status", args{"unique_name": "serve"}), &out); err != nil || len(out.Jobs) != 2 {
		t.Fatalf("%v %+v", err, out)
	}
	for _, j := range out.Jobs {
		port := pids[j.PID]
		if port == "" || j.State != "running" || j.Command != "./serve.sh "+port && j.Command != "sh ./serve.sh "+port || !slices.Equal(j.Args, []string{port}) || !alive(j.PID) {
			t.Errorf("%+v", j)
		}
		eventually(t, "each has its own output", func() bool { return slices.Equal(p.lines(j.PID, nil), []string{"port " + port}) })
	}
}

func TestAStopThatIsHeededTellsTheCode(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.script("heeds", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
	p := w.tasks()
	pid := p.startTask("heeds", args{"wait_for_exit_seconds": 0})
	eventually(t, "it is ready", func() bool { return slices.Contains(p.lines(pid, nil), "ready") })
	out := p.must("task_stop", args{"pid": pid, "grace_period": 5})
	want := fmt.Sprintf(`{"pid":%d,"status":"graceful","message":"Process stopped gracefully with exit code 0","grace_period_used":5}`, pid)
	if !sameJSON(t, out, []byte(want)) {
		t.Errorf("%s", out)
	}
	if j := p.taskOf(pid); j.State != "exited" || j.ExitCode == nil || *j.ExitCode != 0 {
		t.Errorf("%+v", j)
	}
}

// What the seed lists as a job's metadata is recorded with it, also what no tool returns.
func TestWhatAJobIsIsRecorded(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	w.tasks().must("task_start", args{"unique_name": "build-m", "args": []string{"V=1"}})
	found, err := filepath.Glob(filepath.Join(w.state, "runs", "*", "events.ndjson"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	for _, member := range []string{
		`"unique_name":"build-m"`, `"source_name":"build"`, `"command":"make build V=1"`, `"args":["V=1"]`, `"cwd":"."`, `"file_path":"Makefile"`, `"ts":"`,
	} {
		if first, _, _ := strings.Cut(read(t, found[0]), "\n"); !strings.Contains(first, member) {
			t.Errorf("%s is not in %s", member, first)
		}
	}
}

func TestNoToolChangesTheAllowlist(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	before := w.allowlists()
	p := w.tasks()
	pid := p.startTask("long", args{"wait_for_exit_seconds": 0})
	p.must("list_tasks", args{})
	p.must("status", args{})
	p.must("task_status", args{"unique_name": "long"})
	p.must("task_output", args{"pid": pid})
	p.must("task_stop", args{"pid": pid})
	p.refused("task_start", args{"unique_name": "secret"}, "NOT_ALLOWLISTED")
	if after := w.allowlists(); len(before) != 1 || !maps.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	for _, tool := range p.tools() {
		if strings.Contains(tool.Name, "allow") {
			t.Errorf("there is a tool %s", tool.Name)
		}
	}
}

// allowlists are the texts of all allowlists in the home folder.
func (w *world) allowlists() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "allowlist.toml" {
			found[path] = read(w.t, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}
