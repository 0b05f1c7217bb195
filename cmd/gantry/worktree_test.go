package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

const (
	justfile = `# Greets
good:
    echo hello

bad:
    false

slow:
    sleep 1000

say words:
    echo {{words}}

secret:
    echo never
`
	// just is played by a script: what is asked for is the last word.
	fakeJust = `#!/bin/sh
case "$1" in
good) echo hello; echo careful >&2 ;;
bad) echo wrong >&2; exit 3 ;;
slow) echo begun; sleep 1000 & wait ;;
say) echo "said $2" ;;
esac
`
)

// newTree makes a world whose root is a repository with rules and a justfile, and whose
// people allow all of its recipes but one.
func newTree(t *testing.T) *world {
	t.Helper()
	w := newProject(t)
	for name, text := range map[string]string{
		"justfile": justfile, "src/main.go": "package main\n\nfunc main() {}\n", ".gitignore": "*.log\n!keep.log\nbuild/\n", "a.log": "", "keep.log": "",
		"build/out": "", "sub/.gitignore": "!b.log\n", "sub/b.log": "", "sub/c.log": "", ".env": "TOKEN=hush",
	} {
		write(t, filepath.Join(w.root, name), text)
	}
	write(t, filepath.Join(w.bin(), "just"), fakeJust)
	if err := os.Chmod(filepath.Join(w.bin(), "just"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.allow("[[entries]]\npath = \"" + w.root + "/justfile\"\nscope = \"Task\"\ntasks = [\"good\", \"bad\", \"slow\", \"say\"]\n")
	for _, words := range [][]string{{"init", "-q", "-b", "main"}, {"add", "src", "justfile", ".gitignore"}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", words...)
		cmd.Dir, cmd.Env = w.root, append(w.env, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", words, err, out)
		}
	}
	return w
}

func (w *world) tree(flags ...string) *peer {
	w.t.Helper()
	return w.serve(stateful, append([]string{"--toolsets=worktree", "--rate-limit=0"}, flags...)...)
}

// toolError returns code and message of a call that must fail with a result.
func (p *peer) toolError(tool string, a any) (code, message string) {
	p.t.Helper()
	got := p.call(tool, a)
	var r struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
	}
	var f struct{ Code, Message, Hint string }
	if got.Error != nil || json.Unmarshal(got.Result, &r) != nil || !r.IsError || len(r.Content) != 1 || json.Unmarshal([]byte(r.Content[0].Text), &f) != nil || f.Hint == "" {
		p.t.Fatalf("%s %v does not fail as it should: %v %.300s", tool, a, got.Error, got.Result)
	}
	return f.Code, f.Message
}

func TestWorktreeToolsAreListedWithTheirSchemas(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	p := w.tree()
	required := map[string]string{"read_file": "[path]", "list_directory": "[]", "get_project_context": "[]", "run_just_task": "[task_name]"}
	all := p.tools()
	if len(all) != len(required) {
		t.Errorf("%d tools are listed", len(all))
	}
	for _, tool := range all {
		var in struct {
			Type     string
			Required []string
		}
		if err := json.Unmarshal(tool.Input, &in); err != nil || in.Type != "object" || fmt.Sprint(in.Required) != required[tool.Name] {
			t.Errorf("%s: %+v %v", tool.Name, in, err)
		}
	}
	first := w.serve(stateless, "--toolsets=worktree").request("server/discover", nil)
	if first.Error != nil || !strings.Contains(string(first.Result), "gantry-worktree") {
		t.Errorf("alone it calls itself %s %v", first.Result, first.Error)
	}
	want := len(all)
	launch, err := specs.Tools("launch")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(w.serve(stateful).tools()); got != want+len(launch) { // by default it is served beside the launch
		t.Errorf("%d tools are served by default", got)
	}
}

func TestEveryWorktreeToolAnswersAsItsSchemaSays(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	p := w.tree()
	calls := map[string]args{
		"read_file": {"path": "src/main.go"}, "list_directory": {"path": "src"}, "get_project_context": {}, "run_just_task": {"task_name": "good"},
	}
	for _, tool := range p.tools() {
		s, err := validate.Compile(tool.Name, tool.Output)
		if err != nil {
			t.Fatal(err)
		}
		if problems, err := s.Check(p.must(tool.Name, calls[tool.Name])); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", tool.Name, problems, err)
		}
	}
}

func TestReadFileReturnsWhatIsInTheFile(t *testing.T) {
	t.Parallel()
	p := newTree(t).tree()
	got := p.must("read_file", args{"path": "src/main.go"})
	for path, want := range map[string]string{
		"content": "package main\n\nfunc main() {}\n", "path": "src/main.go", "encoding": "utf-8", "size_bytes": "29", "total_lines": "3", "truncated": "false", "next_offset": "",
	} {
		if is := field(t, got, path); is != want {
			t.Errorf("%s is %s, want %s", path, is, want)
		}
	}
	got = p.must("read_file", args{"path": "src/main.go", "offset": 1, "limit": 1})
	if field(t, got, "content") != "\n" || field(t, got, "next_offset") != "2" || field(t, got, "truncated") != "true" {
		t.Errorf("a slice: %s", got)
	}
	if code, _ := p.toolError("read_file", args{"path": ".env"}); code != "secret_file" {
		t.Errorf("a file of secrets: %s", code)
	}
	if got := newTree(t).tree("--worktree-allow-secrets").must("read_file", args{"path": ".env"}); !strings.Contains(string(got), "TOKEN=") {
		t.Errorf("allowed: %s", got)
	}
}

func TestListDirectoryLeavesOutWhatGitIgnores(t *testing.T) {
	t.Parallel()
	p := newTree(t).tree()
	names := func(path string, more args) (out []string, next string) {
		t.Helper()
		a := args{"path": path}
		for k, v := range more {
			a[k] = v
		}
		raw := p.must("list_directory", a)
		var r struct {
			Entries []struct{ Name, Type string }
			Next    string `json:"next_cursor"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Entries {
			out = append(out, e.Name+" "+e.Type)
		}
		return out, r.Next
	}
	all, _ := names(".", nil)
	want := ".env file, .gitignore file, Makefile file, Taskfile.yml file, gate other, justfile file, keep.log file, package-lock.json file, package.json file, src directory, sub directory"
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("the root holds %s", got)
	}
	if got, _ := names("sub", nil); strings.Join(got, ", ") != ".gitignore file, b.log file" {
		t.Errorf("nested rules: %v", got)
	}
	var paged []string
	for cursor, n := "", 0; ; n++ {
		page, next := names("", args{"limit": 4, "cursor": cursor})
		paged = append(paged, page...)
		if cursor = next; next == "" || n > 5 {
			break
		}
	}
	if strings.Join(paged, ", ") != want {
		t.Errorf("in pages: %v", paged)
	}
	_, cursor := names("", args{"limit": 1})
	if code, _ := p.toolError("list_directory", args{"path": "sub", "cursor": cursor}); code != "invalid_cursor" {
		t.Errorf("a cursor of another folder: %s", code)
	}
}

func TestPathsOutsideOfTheProjectAreRefusedInTheSeedsWords(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	if err := os.Symlink("/etc", filepath.Join(w.root, "etc")); err != nil {
		t.Fatal(err)
	}
	p := w.tree()
	for _, path := range []string{
		"/etc/passwd", "../outside/secret", "foo/../../etc/passwd", "/no/such/file", "etc/passwd", w.root + "-evil/secret", w.root + "2", w.root + ".bak", "/proc/self/environ",
		"/proc/self/root/etc/passwd", "/proc/1/cwd", w.root + "/../root-evil/secret",
	} {
		for tool, a := range map[string]args{"read_file": {"path": path}, "list_directory": {"path": path}, "get_project_context": {"files": []string{path}}} {
			if code, message := p.toolError(tool, a); code != "path_outside_root" || message != "Path outside project root" {
				t.Errorf("%s %s: %s: %s", tool, path, code, message)
			}
		}
	}
	if err := os.Symlink("loop", filepath.Join(w.root, "loop")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"loop": "too_many_links", "gate": "not_regular", "": "is_directory", ".": "is_directory", "%2e%2e%2fetc%2fpasswd": "not_found", "..%c0%af": "not_found", "．．/etc": "not_found",
		"file:///etc/passwd": "not_found", "ok.txt\x00.png": "invalid_argument", strings.Repeat("n", 300): "name_too_long", strings.Repeat("a/", 3000) + "x": "not_found",
	} {
		code, message := p.toolError("read_file", args{"path": path})
		if code != want && !(want == "not_found" && code == "name_too_long") {
			t.Errorf("%.40q: %s, want %s", path, code, want)
		}
		if len(message) > 256 || strings.Contains(message, w.root) {
			t.Errorf("%.40q: the message is %q", path, message)
		}
	}
	p.must("read_file", args{"path": filepath.Join(w.root, "justfile")})
}

func TestTheContextOfAProjectHoldsItsFilesStateAndOutput(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	write(t, filepath.Join(w.root, "src/main.go"), "package main\n\nfunc main() { panic(1) }\n")
	p := w.tree()
	p.must("run_just_task", args{"task_name": "bad"})
	text := func(a args) string {
		t.Helper()
		var r struct{ Context string }
		if err := json.Unmarshal(p.must("get_project_context", a), &r); err != nil {
			t.Fatal(err)
		}
		return r.Context
	}
	got := text(args{})
	for _, want := range []string{
		"Branch: main", "### src/main.go", "panic(1)", " M src/main.go", "1 files changed, 1 insertions(+), 1 deletions(-)", "`just bad` ended with exit code 3", "wrong",
		"- `good`: Greets", "- `secret` (not allowlisted)", "src/\n  main.go",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "hush") {
		t.Error("it shows a secret")
	}
	if again := text(args{}); again != got {
		t.Error("nothing has changed, and the context has")
	}
	write(t, filepath.Join(w.root, "src/new.go"), "package main // new\n")
	if fresh := text(args{}); !strings.Contains(fresh, "package main // new") {
		t.Error("a new file does not show")
	}
	if named := text(args{"files": []string{"justfile"}}); !strings.Contains(named, "### justfile") || strings.Contains(named, "### src/main.go") {
		t.Error("files that were named are not the active ones")
	}
}

func TestRunJustTaskReturnsCodeAndOutput(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	p := w.tree()
	for name, want := range map[string]string{
		"good": `{"exit_code":0,"stdout":"hello\n","stderr":"careful\n","timed_out":false,"truncated":false}`,
		"bad":  `{"exit_code":3,"stdout":"","stderr":"wrong\n","timed_out":false,"truncated":false}`,
	} {
		if got := p.must("run_just_task", args{"task_name": name}); !sameJSON(t, got, []byte(want)) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := p.must("run_just_task", args{"task_name": "say", "args": []string{"$(id)"}}); field(t, got, "stdout") != "said $(id)\n" {
		t.Errorf("with an argument: %s", got)
	}
	for name, want := range map[string]string{"secret": "not_allowlisted", "nothing": "task_not_found", "build": "task_not_found", "-f": "task_not_found"} {
		if code, _ := p.toolError("run_just_task", args{"task_name": name}); code != want {
			t.Errorf("%s: %s, want %s", name, code, want)
		}
	}
	one := p.must("run_just_task", args{"task_name": "good", "idempotency_key": "k"})
	if again := p.must("run_just_task", args{"task_name": "good", "idempotency_key": "k"}); string(again) != string(one) {
		t.Errorf("one key, two results: %s and %s", one, again)
	}
	if code, _ := p.toolError("run_just_task", args{"task_name": "bad", "idempotency_key": "k"}); code != "idempotency_conflict" {
		t.Errorf("one key for two requests: %s", code)
	}
}

func TestARecipeThatTakesTooLongIsStoppedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	p := w.tree()
	got := p.must("run_just_task", args{"task_name": "slow", "timeout_seconds": 1})
	if field(t, got, "timed_out") != "true" || field(t, got, "exit_code") != "" || field(t, got, "stdout") != "begun\n" {
		t.Errorf("%s", got)
	}
	for _, process := range mentioning(w.root) {
		if strings.HasSuffix(process, " in "+w.root) { // the server itself is elsewhere
			t.Errorf("left behind: %s", process)
		}
	}
}

// The time of the recipe, and a client that is gone, do not hold the server.
func TestARecipeEndsWithItsServer(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	p := w.tree()
	p.beginCall("run_just_task", args{"task_name": "slow"})
	q := w.tasks()
	eventually(t, "the recipe to run", func() bool { jobs := q.taskJobs(); return len(jobs) == 1 && jobs[0].PID > 0 })
	pid := q.taskJobs()[0].PID
	p.signal(syscall.SIGKILL)
	began := time.Now()
	eventually(t, "its end", func() bool { return !alive(pid) })
	t.Logf("it ended %s after its server", time.Since(began))
}

func TestAReadOnlyServerRunsNoRecipe(t *testing.T) {
	t.Parallel()
	p := newTree(t).tree("--read-only")
	for _, tool := range p.tools() {
		if tool.Name == "run_just_task" {
			t.Error("run_just_task is listed")
		}
	}
	if a := p.call("run_just_task", args{"task_name": "good"}); a.Error == nil || a.Error.Code != -32601 {
		t.Errorf("%s %v", a.Result, a.Error)
	}
}
