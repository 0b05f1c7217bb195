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
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/validate"
)

const makefile = `build: ## Build the project
	@echo building $(V)
test:
	@echo testing; exit 0
code:
	@echo to stderr >&2; exit 5
long:
	@echo begun; read line <gate; echo went on with $$line
deaf:
	@trap '' TERM; echo deaf; while :; do sleep 0.05; done
escape:
	@setsid sh -c 'echo $$$$ >escaped; exec sleep 1000' & while [ ! -s escaped ]; do sleep 0.01; done; echo escaped; sleep 1000
many:
	@i=0; while [ $$i -lt 1500 ]; do i=$$((i+1)); echo line $$i; done
secret:
	@echo never
`

// project makes a world whose root has a Makefile and a package.json that share names,
// in which make is installed and npm is not, and whose people allow all of it but one
// task.
func newProject(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state"), home: filepath.Join(base, "home")}
	bin := filepath.Join(base, "bin")
	for _, dir := range []string{w.root, w.state, w.home, bin} {
		mkdir(t, dir)
	}
	for _, name := range []string{"echo", "git", "make", "setsid", "sh", "sleep"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{"HOME=" + w.home, "PATH=" + bin, "TMPDIR=" + base, "LANG=C"}
	write(t, filepath.Join(w.root, "Makefile"), makefile)
	write(t, filepath.Join(w.root, "package.json"), `{"scripts": {"build": "tsc", "lint": "eslint ."}}`)
	write(t, filepath.Join(w.root, "package-lock.json"), "{}")
	write(t, filepath.Join(w.root, "Taskfile.yml"), "tasks: [\n")
	if err := syscall.Mkfifo(filepath.Join(w.root, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.allow(`[[entries]]
path = "` + w.root + `"
scope = "Directory"

[[entries]]
path = "` + w.root + `/Makefile"
scope = "Deny"
tasks = ["secret"]
`)
	return w
}

// allow writes the allowlist.
func (w *world) allow(text string) {
	w.t.Helper()
	write(w.t, filepath.Join(w.home, ".dela", "allowlist.toml"), text)
}

// tasks serves the toolset of the project.
func (w *world) tasks(flags ...string) *peer {
	w.t.Helper()
	return w.serve(stateful, append([]string{"--toolsets=tasks", "--rate-limit=0"}, flags...)...)
}

// openGate lets the task long go on.
func (w *world) openGate(word string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.root, "gate"), os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(word + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

// startTask starts a task that goes on, and returns its pid.
func (p *peer) startTask(name string, more args) int {
	p.t.Helper()
	all := args{"unique_name": name}
	for k, v := range more {
		all[k] = v
	}
	out := p.must("task_start", all)
	pid, err := strconv.Atoi(field(p.t, out, "pid"))
	if field(p.t, out, "state") != "running" || err != nil || pid < 1 {
		p.t.Fatalf("%s is not running: %s", name, out)
	}
	return pid
}

// taskJob is an item of status.
type taskJob struct {
	PID         int      `json:"pid"`
	UniqueName  string   `json:"unique_name"`
	State       string   `json:"state"`
	StartedAt   float64  `json:"started_at"`
	StartedTime string   `json:"started_time"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Cwd         string   `json:"cwd"`
	ExitCode    *int     `json:"exit_code"`
	Signal      string   `json:"signal"`
	Error       string   `json:"error"`
}

func (p *peer) taskJobs() []taskJob {
	p.t.Helper()
	var out struct{ Running []taskJob }
	if err := json.Unmarshal(p.must("status", args{}), &out); err != nil {
		p.t.Fatal(err)
	}
	return out.Running
}

// taskOf returns how a job is told of.
func (p *peer) taskOf(pid int) taskJob {
	p.t.Helper()
	all := p.taskJobs()
	i := slices.IndexFunc(all, func(j taskJob) bool { return j.PID == pid })
	if i < 0 {
		p.t.Fatalf("there is no job %d in %+v", pid, all)
	}
	return all[i]
}

func (p *peer) lines(pid int, more args) (lines []string) {
	p.t.Helper()
	all := args{"pid": pid}
	for k, v := range more {
		all[k] = v
	}
	var out struct{ Lines []string }
	if err := json.Unmarshal(p.must("task_output", all), &out); err != nil {
		p.t.Fatal(err)
	}
	return out.Lines
}

func TestListTasksSaysEverythingOfEveryTask(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	var out struct {
		Tasks []struct {
			UniqueName  string `json:"unique_name"`
			SourceName  string `json:"source_name"`
			Runner      string `json:"runner"`
			Command     string `json:"command"`
			Available   bool   `json:"runner_available"`
			Allowlisted bool   `json:"allowlisted"`
			FilePath    string `json:"file_path"`
			SourcePath  string `json:"source_path"`
			Description string `json:"description"`
		}
		Problems []struct {
			FilePath string `json:"file_path"`
		}
		Next *string `json:"next_cursor"`
	}
	raw := p.must("list_tasks", args{})
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range out.Tasks {
		got = append(got, fmt.Sprintf("%s %s %s [%s] %v %v %s", task.UniqueName, task.SourceName, task.Runner, task.Command, task.Available, task.Allowlisted, task.FilePath))
		if task.SourcePath != task.FilePath {
			t.Errorf("source_path %s, file_path %s", task.SourcePath, task.FilePath)
		}
	}
	want := []string{
		"build-m build make [make build] true true Makefile",
		"test test make [make test] true true Makefile",
		"code code make [make code] true true Makefile",
		"long long make [make long] true true Makefile",
		"deaf deaf make [make deaf] true true Makefile",
		"escape escape make [make escape] true true Makefile",
		"many many make [make many] true true Makefile",
		"secret secret make [make secret] true false Makefile",
		"build-n build npm [npm run build] false true package.json",
		"lint lint npm [npm run lint] false true package.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if out.Tasks[0].Description != "Build the project" || len(out.Problems) != 1 || out.Problems[0].FilePath != "Taskfile.yml" || out.Next != nil {
		t.Errorf("%s", raw)
	}
	if npm := p.must("list_tasks", args{"runner": "npm"}); strings.Count(string(npm), "unique_name") != 2 {
		t.Errorf("%s", npm)
	}
	for _, other := range []string{"NPM", "nonsense"} {
		if none := p.must("list_tasks", args{"runner": other}); strings.Contains(string(none), "unique_name") {
			t.Errorf("%s", none)
		}
	}
	var paged []string
	for cursor := ""; ; {
		page := p.must("list_tasks", args{"limit": 3, "cursor": cursor})
		for _, line := range strings.Split(string(page), `"unique_name":"`)[1:] {
			paged = append(paged, line[:strings.Index(line, `"`)])
		}
		if cursor = field(t, page, "next_cursor"); cursor == "" {
			break
		}
		p.refused("list_tasks", args{"cursor": cursor, "runner": "npm"}, "INVALID_CURSOR")
	}
	if len(paged) != len(want) || paged[0] != "build-m" || paged[9] != "lint" {
		t.Errorf("in pages: %v", paged)
	}
}

func TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	start := func(name string, more args, code string) refusal {
		t.Helper()
		all := args{"unique_name": name}
		for k, v := range more {
			all[k] = v
		}
		return p.refused("task_start", all, code)
	}
	for _, test := range []struct {
		name    string
		more    args
		code    string
		rpc     int
		message string
		hint    string
	}{
		{"nonexistent", nil, "TASK_NOT_FOUND", -32012, "Task 'nonexistent' not found", "Use 'list_tasks' to see available tasks"},
		{"build", nil, "TASK_AMBIGUOUS", -32012, "Task 'build' is ambiguous: 2 targets have this name", "Use one of: build-m, build-n"},
		{"secret", nil, "NOT_ALLOWLISTED", -32010, "Task 'secret' is not allowlisted for MCP execution", "Ask a human to grant MCP access to this task"},
		{"lint", nil, "RUNNER_UNAVAILABLE", -32011, "Runner 'npm' is not available for task 'lint'", ""},
		{"test", args{"cwd": ".."}, "PATH_OUTSIDE_ROOT", -32603, "", ""},
		{"test", args{"args": []string{"-f", "/etc/passwd"}}, "ARGUMENT_REFUSED", -32603, "", ""},
		{"test", args{"args": []string{"SHELL=/bin/false"}}, "ARGUMENT_REFUSED", -32603, "", ""},
		{"test", args{"args": []string{"V=$(shell id)"}}, "ARGUMENT_REFUSED", -32603, "", ""},
		{"test", args{"env": args{"LD_PRELOAD": "x"}}, "ENV_FORBIDDEN", -32603, "", ""},
		{"test", args{"wait_for_exit_seconds": 51}, "SCHEMA_VALIDATION_FAILED", -32602, "", ""},
		{"test", args{"nonsense": 1}, "SCHEMA_VALIDATION_FAILED", -32602, "", ""},
	} {
		r := start(test.name, test.more, test.code)
		if r.Code != test.rpc || test.message != "" && r.Message != test.message || test.hint != "" && r.Data.Hint != test.hint {
			t.Errorf("%s %v: %s, hint %q", test.name, test.more, &r, r.Data.Hint)
		}
	}
	for tool, a := range map[string]args{"task_output": {"pid": 999999}, "task_stop": {"pid": 999999}} {
		if r := p.refused(tool, a, "JOB_NOT_FOUND"); r.Code != -32012 || r.Message != "Job with PID 999999 not found" || !strings.Contains(r.Data.Hint, "status") {
			t.Errorf("%s: %s %q", tool, &r, r.Data.Hint)
		}
	}
	p.refused("task_status", args{"unique_name": "nonexistent"}, "TASK_NOT_FOUND")
	p.refused("task_status", args{"unique_name": "build"}, "TASK_AMBIGUOUS")
	if jobs := p.taskJobs(); len(jobs) != 0 {
		t.Errorf("something was started: %+v", jobs)
	}
	w.allow("") // it holds at once
	start("test", nil, "NOT_ALLOWLISTED")
}

func TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole(t *testing.T) {
	t.Parallel()
	p := newProject(t).tasks()
	out := p.must("task_start", args{"unique_name": "build-m", "args": []string{"V=with spaces"}})
	if want := `{"state":"exited","exit_code":0,"initial_output":"building with spaces\n","truncated":false}`; !sameJSON(t, out, []byte(want)) {
		t.Errorf("%s", out)
	}
	out = p.must("task.start", args{"unique_name": "code"})
	if field(t, out, "state") != "exited" || field(t, out, "exit_code") != "2" || !strings.HasPrefix(field(t, out, "initial_output"), "to stderr\n") {
		t.Errorf("%s", out)
	}
	jobs := p.taskJobs()
	if len(jobs) != 2 || jobs[0].UniqueName != "code" || *jobs[0].ExitCode != 2 || jobs[1].Command != "make build 'V=with spaces'" ||
		!slices.Equal(jobs[1].Args, []string{"V=with spaces"}) || jobs[1].Cwd != "." {
		t.Errorf("%+v", jobs)
	}
	for _, j := range jobs {
		if at, err := time.Parse(time.RFC3339, j.StartedTime); err != nil || time.Since(at) > time.Minute || j.StartedAt > 60 {
			t.Errorf("started %s, %v s ago: %v", j.StartedTime, j.StartedAt, err)
		}
	}
}

func TestALongTaskIsStartedFollowedAndStopped(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newProject(t)
			p := w.serve(era, "--toolsets=tasks,launch", "--rate-limit=0")
			began := time.Now()
			pid := p.startTask("long", nil)
			if took := time.Since(began); took < time.Second || took > 3*time.Second {
				t.Errorf("it was waited %s for, want 1 s", took)
			}
			if lines := p.lines(pid, nil); !slices.Equal(lines, []string{"begun"}) {
				t.Errorf("%q", lines)
			}
			if j := p.taskOf(pid); j.State != "running" || j.ExitCode != nil || j.Command != "make long" {
				t.Errorf("%+v", j)
			}
			p.follow("joblog://" + fmt.Sprint(pid))
			w.openGate("it")
			select {
			case uri := <-p.updated:
				if uri != "joblog://"+fmt.Sprint(pid) {
					t.Errorf("notified of %s", uri)
				}
			case <-time.After(patience):
				t.Fatal("nobody tells that the log grew")
			}
			eventually(t, "it ends", func() bool { return p.taskOf(pid).State == "exited" })
			if lines := p.lines(pid, args{"lines": 1, "show_truncation": true}); !slices.Equal(lines, []string{"[1 older lines, 6 bytes, left out]", "went on with it"}) {
				t.Errorf("%q", lines)
			}
			p.readsJob(pid)

			pid = p.startTask("long", args{"wait_for_exit_seconds": 0})
			other := p.startTask("deaf", args{"wait_for_exit_seconds": 0.2})
			if jobs := p.must("task_status", args{"unique_name": "long"}); strings.Count(string(jobs), `"unique_name":"long"`) != 2 {
				t.Errorf("%s", jobs)
			}
			out := p.must("task_stop", args{"pid": pid})
			if field(t, out, "status") != "graceful" || field(t, out, "grace_period_used") != "5" || !strings.HasPrefix(field(t, out, "message"), "Process stopped gracefully with ") {
				t.Errorf("%s", out)
			}
			out = p.must("task_stop", args{"pid": other, "grace_period": 0.3})
			if field(t, out, "status") != "killed" || field(t, out, "grace_period_used") != "0.3" {
				t.Errorf("%s", out)
			}
			if j := p.taskOf(other); j.State != "failed" || j.Signal == "" && j.ExitCode == nil || j.Error == "" {
				t.Errorf("%+v", j)
			}
			if r := p.refused("task_stop", args{"pid": pid}, "ILLEGAL_STATE"); r.Code != -32603 {
				t.Errorf("%s", &r)
			}
			if alive(pid) || alive(other) {
				t.Error("they live on")
			}
		})
	}
}

// readsJob reads the resources of a job and compares them with the tools.
func (p *peer) readsJob(pid int) {
	p.t.Helper()
	read := func(uri string) json.RawMessage {
		p.t.Helper()
		a := p.request("resources/read", map[string]any{"uri": uri})
		var r struct {
			Contents []struct{ Text, MIMEType string }
		}
		if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || len(r.Contents) != 1 || r.Contents[0].MIMEType != "application/json" {
			p.t.Fatalf("%s: %v %s", uri, a.Error, a.Result)
		}
		return json.RawMessage(r.Contents[0].Text)
	}
	if j := read(fmt.Sprintf("job://%d", pid)); field(p.t, j, "state") != "exited" || field(p.t, j, "exit_code") != "0" {
		p.t.Errorf("%s", j)
	}
	if log, tool := read(fmt.Sprintf("joblog://%d", pid)), p.must("task_output", args{"pid": pid}); !sameJSON(p.t, log, tool) {
		p.t.Errorf("%s and %s", log, tool)
	}
	if log := read(fmt.Sprintf("joblog://%d?from=6", pid)); !strings.Contains(string(log), `"lines":["went on with it"]`) {
		p.t.Errorf("%s", log)
	}
	for _, uri := range []string{"job://1", "job://x", "joblog://1?from=-1", "joblog://7?to=3", "job:///etc/passwd"} {
		if a := p.request("resources/read", map[string]any{"uri": uri}); a.Error == nil {
			p.t.Errorf("%s is %s", uri, a.Result)
		}
	}
}

func TestTheLatestLinesAreToldWhileTaskStartWaits(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	answer := p.begin("tools/call", map[string]any{
		"name": "task_start", "arguments": args{"unique_name": "long", "wait_for_exit_seconds": 50}, "_meta": map[string]any{"progressToken": 1},
	})
	next := func(want string) {
		t.Helper()
		select {
		case got := <-p.told:
			if got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		case <-time.After(patience):
			t.Fatal("nothing is told")
		}
	}
	next("begun\n")
	w.openGate("more")
	if out := p.success("task_start", p.wait(answer)); field(t, out, "initial_output") != "begun\nwent on with more\n" {
		t.Errorf("%s", out)
	}
	next("went on with more\n")
}

func TestOutputIsTailedAndPaged(t *testing.T) {
	t.Parallel()
	p := newProject(t).tasks()
	out := p.must("task_start", args{"unique_name": "many", "wait_for_exit_seconds": 50})
	if text := field(t, out, "initial_output"); len(text) > 8192 || !strings.HasSuffix(text, "line 1500\n") || field(t, out, "truncated") != "true" {
		t.Errorf("%d bytes, truncated %s", len(text), field(t, out, "truncated"))
	}
	pid := p.taskJobs()[0].PID
	out = p.must("task_output", args{"pid": pid})
	for path, want := range map[string]string{"total_lines": "1500", "total_bytes": "13893", "truncated": "true", "buffer_full": "true", "next_from": "13893"} {
		if got := field(t, out, path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	if lines := p.lines(pid, nil); len(lines) != 200 || lines[0] != "line 1301" || lines[199] != "line 1500" {
		t.Errorf("%d lines from %s", len(lines), lines[0])
	}
	if lines := p.lines(pid, args{"from": 7, "lines": 1}); !slices.Equal(lines, []string{"line 2"}) {
		t.Errorf("%q", lines)
	}
}

func TestEveryTaskToolAnswersAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	pid := p.startTask("long", args{"wait_for_exit_seconds": 0})
	calls := []struct {
		tool string
		args args
	}{
		{"list_tasks", args{}}, {"task_start", args{"unique_name": "test"}}, {"task_start", args{"unique_name": "long", "wait_for_exit_seconds": 0}},
		{"status", args{}}, {"task_status", args{"unique_name": "long"}}, {"task_output", args{"pid": pid}}, {"task_stop", args{"pid": pid, "idempotency_key": "k"}},
		{"task_stop", args{"pid": pid, "idempotency_key": "k"}}, {"status", args{}},
	}
	schemas := map[string]json.RawMessage{}
	for _, tool := range p.tools() {
		schemas[tool.Name] = tool.Output
	}
	for _, c := range calls {
		s, err := validate.Compile(c.tool, schemas[c.tool])
		if err != nil {
			t.Fatal(err)
		}
		result := p.must(c.tool, c.args)
		if problems, err := s.Check(result); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v in %s", c.tool, problems, err, result)
		}
	}
	if len(schemas) != 6 {
		t.Errorf("%d tools are listed", len(schemas))
	}
}

func TestAServerOfTasksAloneIsCalledAsTheSeedSays(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	for flags, want := range map[string]string{"--toolsets=tasks": "dela-mcp", "--toolsets=launch": "foss-launcher-mcp", "--toolsets=tasks,launch": "gantry"} {
		p := w.serve("none", flags)
		a := p.request("initialize", map[string]any{
			"protocolVersion": stateful, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "peer", "version": "1"},
		})
		if a.Error != nil || field(t, a.Result, "serverInfo.name") != want {
			t.Errorf("%s: %s %v", flags, a.Result, a.Error)
		}
		said := field(t, a.Result, "instructions")
		if tasks := strings.Contains(said, "wait_for_exit_seconds") && strings.Contains(said, "1-second capture"); tasks != strings.Contains(flags, "tasks") {
			t.Errorf("%s: %s", flags, said)
		}
	}
}

// A kept task survives the server; the next one has all that was written and the code.
func TestAKeptTaskSurvivesTheKillOfItsServer(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	pid := p.startTask("long", args{"keep": true, "wait_for_exit_seconds": 0})
	p.signal(syscall.SIGKILL)
	q := w.tasks()
	if j := q.taskOf(pid); j.State != "running" || !alive(pid) {
		t.Fatalf("%+v", j)
	}
	w.openGate("life")
	eventually(t, "it ends", func() bool { return q.taskOf(pid).State == "exited" })
	if j := q.taskOf(pid); *j.ExitCode != 0 {
		t.Errorf("%+v", j)
	}
	if lines := q.lines(pid, nil); !slices.Equal(lines, []string{"begun", "went on with life"}) {
		t.Errorf("%q", lines)
	}
}

// The same when it ends while no server runs.
func TestATaskThatEndsWhileNoServerRunsKeepsItsCode(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	pid := p.startTask("long", args{"keep": true, "wait_for_exit_seconds": 0})
	p.signal(syscall.SIGKILL)
	w.openGate("nobody")
	eventually(t, "it ends", func() bool { return !alive(pid) })
	q := w.tasks()
	eventually(t, "its supervisor has written that", func() bool { return q.taskOf(pid).State == "exited" })
	if j := q.taskOf(pid); *j.ExitCode != 0 {
		t.Errorf("%+v", j)
	}
}

// A task that is not kept is over two seconds after its server is, however that ended,
// and so is what fled from its session.
func TestATaskEndsWithItsServer(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"killed": func(p *peer) { p.signal(syscall.SIGKILL) },
		"asked":  func(p *peer) { p.signal(syscall.SIGTERM) },
		"left":   func(p *peer) { p.end() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t)
			p := w.tasks()
			pid, deaf := p.startTask("escape", args{"wait_for_exit_seconds": 0}), p.startTask("deaf", args{"wait_for_exit_seconds": 0})
			eventually(t, "it has a fugitive", func() bool { return slices.Contains(p.lines(pid, nil), "escaped") })
			escaped, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(w.root, "escaped"))))
			if err != nil || !alive(escaped) || !alive(pid) || !alive(deaf) {
				t.Fatalf("%d: %v", escaped, err)
			}
			end(p)
			// 2 s are promised. A busy machine may take longer to see it, but not as long as
			// the 5 s that a stop on request leaves by default.
			over := time.Now().Add(4 * time.Second)
			eventually(t, "they end", func() bool { return !alive(pid) && !alive(escaped) && !alive(deaf) })
			if late := time.Since(over); late > 0 {
				t.Errorf("that took %s longer than 4 s", late)
			}
			if workers := p.workers(); len(workers) > 0 {
				t.Errorf("workers %v were started for nothing: %s", workers, p.err)
			}
			q := w.tasks()
			for _, pid := range []int{pid, deaf} {
				eventually(t, "the end is told", func() bool { return q.taskOf(pid).State != "running" })
			}
		})
	}
}

// A task that is kept goes on, and a worker records its end.
func TestAWorkerTakesTheTasksThatAreKept(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	p := w.tasks()
	pid := p.startTask("long", args{"keep": true, "wait_for_exit_seconds": 0})
	if code := p.end(); code != 0 {
		t.Errorf("the server exits with %d", code)
	}
	if len(p.workers()) != 1 || !alive(pid) {
		t.Errorf("workers %v", p.workers())
	}
	w.openGate("a worker")
	q := w.tasks()
	eventually(t, "it ends", func() bool { return q.taskOf(pid).State == "exited" })
}

func TestNoMoreTasksRunAtOnceThanConfigured(t *testing.T) {
	t.Parallel()
	p := newProject(t).tasks("--tasks-max-jobs=2")
	pid := p.startTask("long", args{"wait_for_exit_seconds": 0})
	p.startTask("long", args{"wait_for_exit_seconds": 0})
	r := p.refused("task_start", args{"unique_name": "test"}, "TOO_MANY_JOBS")
	if !r.Data.Retryable || r.Code != -32603 {
		t.Errorf("%s", &r)
	}
	p.must("task_stop", args{"pid": pid})
	p.must("task_start", args{"unique_name": "test"})
}

func TestTheCaptureIsConfigurable(t *testing.T) {
	t.Parallel()
	p := newProject(t).tasks("--tasks-capture-seconds=0", "--tasks-ring-lines=3")
	began := time.Now()
	p.startTask("long", nil)
	if took := time.Since(began); took > 900*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	p.must("task_start", args{"unique_name": "many", "wait_for_exit_seconds": 50})
	if lines := p.lines(p.taskJobs()[1].PID, args{"lines": 100}); len(lines) != 3 {
		t.Errorf("%q", lines)
	}
}
