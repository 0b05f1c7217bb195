package targets

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

const everyKind = `
-- Makefile --
build:
	cc
publish:
	ship
-- package.json --
{"scripts": {"build": "tsc", "start": "node ."}}
-- package-lock.json --
{}
-- justfile --
greet name:
    echo {{name}}
all *rest:
    echo
fmt:
    true
-- Rakefile --
task :spec
task :other
-- CMakeLists.txt --
add_custom_target(docs)
-- .travis.yml --
-- run.sh --
echo
-- Taskfile.yml --
tasks: {lint: golint}
-- pom.xml --
<project/>
-- sub/Makefile --
build:
	other
only:
	x
-- sub/deep/package.json --
{"scripts": {}}
-- sub/deep/er/x --
-- empty/x --
`

func everything(t *testing.T) *lab {
	l := newLab(t, everyKind)
	l.install("make", "npm", "just", "rake", "sh", "task", "mvn", "cmake")
	l.allow(entry("ROOT", "Directory", ""))
	return l
}

func TestADecisionIsWholeAndExact(t *testing.T) {
	l := everything(t)
	inv, err := l.decide(Request{Name: "build-m", Args: []string{"V=1 2", ""}, Env: map[string]string{"NODE_ENV": "development"}, Cwd: l.root})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(inv.Argv, []string{"make", "build", "V=1 2", ""}) || inv.Program != l.bin+"/make" || inv.Dir != l.root || inv.Cwd != "." ||
		inv.Command != "make build 'V=1 2' ''" || !slices.Equal(inv.Args, []string{"V=1 2", ""}) {
		t.Errorf("%+v", inv)
	}
	if want := []string{"HOME=" + l.home, "NODE_ENV=development", "PATH=" + l.bin}; !slices.Equal(inv.Env, want) {
		t.Errorf("environment %q, want %q", inv.Env, want)
	}
}

// The order of the contract: not found, not allowlisted, runner unavailable, cwd outside
// of the root, and only then what else is wrong.
func TestChecksComeInTheirOrder(t *testing.T) {
	l := newLab(t, everyKind)
	all := Request{Name: "nope", Cwd: "/etc", Args: []string{"-x"}, Env: map[string]string{"LD_PRELOAD": "x"}}
	l.refused(all, fault.TaskNotFound)
	all.Name = "build"
	l.refused(all, fault.TaskAmbiguous)
	all.Name = "publish"
	l.refused(all, fault.NotAllowlisted)
	l.allow(entry("ROOT", "Directory", ""))
	l.refused(all, fault.RunnerUnavailable)
	l.install("make")
	l.refused(all, fault.PathOutsideRoot)
	all.Cwd = ""
	l.refused(all, fault.ArgumentRefused)
	all.Args = nil
	l.refused(all, fault.EnvForbidden)
	all.Env = nil
	l.runs(all)
}

func TestRefusalsSpeakTheSeedsSentences(t *testing.T) {
	l := newLab(t, everyKind)
	f := l.refused(Request{Name: "publish"}, fault.NotAllowlisted)
	if f.Message != "Task 'publish' is not allowlisted for MCP execution" || f.Details.(Denial).Reason != "no_allowlist" ||
		f.Hint != "Ask a human to grant MCP access to this task: there is no allowlist yet, and gantry allow publish creates one" {
		t.Errorf("%+v", f)
	}
	l.allow("")
	f = l.refused(Request{Name: "publish"}, fault.NotAllowlisted)
	if f.Hint != "Ask a human to grant MCP access to this task" || f.Details != any(Denial{"publish", "Makefile", "no_entry"}) {
		t.Errorf("%+v", f)
	}
	l.allow("[[entries")
	if f = l.refused(Request{Name: "publish"}, fault.NotAllowlisted); f.Details.(Denial).Reason != "unreadable" {
		t.Errorf("%+v", f)
	}
	l.allow(entry("ROOT", "Directory", "") + entry("ROOT", "Deny", ""))
	if f = l.refused(Request{Name: "publish"}, fault.NotAllowlisted); f.Details.(Denial).Reason != "denied" {
		t.Errorf("%+v", f)
	}
	l.allow(entry("ROOT", "Directory", ""))
	f = l.refused(Request{Name: "build-m"}, fault.RunnerUnavailable)
	if f.Message != "Runner 'make' is not available for task 'build-m'" ||
		f.Hint != "Install make: brew install make (macOS) or apt-get install make (Ubuntu)" {
		t.Errorf("%+v", f)
	}
}

func TestCMakeAndTravisAreShownAndNeverStarted(t *testing.T) {
	l := everything(t)
	for name, hint := range map[string]string{"docs": "CMake targets need", "travis": "Travis CI jobs run at Travis"} {
		if f := l.refused(Request{Name: name}, fault.RunnerUnavailable); !strings.HasPrefix(f.Hint, hint) {
			t.Errorf("%s: %s", name, f.Hint)
		}
	}
	for _, x := range l.list("").Targets {
		if never := x.Runner == "cmake" || x.Runner == "travis"; x.Available == never {
			t.Errorf("%s: available %v", x.Name, x.Available)
		}
	}
}

func TestArgumentsAreElementsOfAnArgv(t *testing.T) {
	l := everything(t)
	for name, c := range map[string]struct {
		task string
		args []string
		want string
	}{
		"spaces":               {"build-m", []string{"ARGS=value with spaces"}, "make|build|ARGS=value with spaces"},
		"a compiler (H153)":    {"publish", []string{"CC=sh -c id"}, "make|publish|CC=sh -c id"},
		"empty (H157)":         {"start", []string{""}, "npm|run|start|"},
		"shell words":          {"start", []string{"a; rm -rf /", "$(id)", "`id`", "a\nb"}, "npm|run|start|a; rm -rf /|$(id)|`id`|a\nb"},
		"make operators":       {"publish", []string{"A:=1", "B?=2", "C+=3", "D::=4", "E = 5"}, "make|publish|A:=1|B?=2|C+=3|D::=4|E = 5"},
		"parameters of just":   {"greet", []string{"fmt"}, "just|greet|fmt"},
		"all that follow":      {"all", []string{"fmt", "x", "y"}, "just|all|fmt|x|y"},
		"further targets":      {"build-m", []string{"publish"}, "make|build|publish"},
		"a variable of rake":   {"spec", []string{"FOO=bar", "other"}, "rake|spec|FOO=bar|other"},
		"task keeps its words": {"lint", []string{"x=y"}, "task|lint|--|x=y"},
		"a script":             {"run", []string{"x"}, "sh|./run.sh|x"},
		"a phase of maven":     {"clean", []string{"verify"}, "mvn|clean|verify"},
	} {
		if got := l.runs(Request{Name: c.task, Args: c.args}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestArgumentsThatWouldDoSomethingElseAreRefused(t *testing.T) {
	l := everything(t)
	for _, c := range []struct {
		task string
		arg  string
		code fault.Code
	}{
		{"start", "-rf", fault.ArgumentRefused}, {"start", "--", fault.ArgumentRefused}, {"start", "-o/tmp/x", fault.ArgumentRefused},
		{"publish", "-n", fault.ArgumentRefused}, {"publish", "-", fault.ArgumentRefused}, {"run", "--help", fault.ArgumentRefused},
		{"publish", "SHELL=/tmp/evil", fault.ArgumentRefused}, {"publish", "SHELL := /tmp/evil", fault.ArgumentRefused},
		{"publish", ".SHELLFLAGS=-c", fault.ArgumentRefused}, {"publish", "MAKE=evil", fault.ArgumentRefused},
		{"publish", "MAKEFLAGS=-n", fault.ArgumentRefused}, {"publish", "MAKEFILES=/tmp/x", fault.ArgumentRefused},
		{"publish", "MAKEFLAGS+=-n", fault.ArgumentRefused}, {"publish", "SHELL::=x", fault.ArgumentRefused}, {"publish", "SHELL?=x", fault.ArgumentRefused},
		{"publish", "X=$(shell id)", fault.ArgumentRefused}, {"publish", "X=${shell id}", fault.ArgumentRefused}, {"publish", "X=`id`", fault.ArgumentRefused},
		{"publish", "$(eval x)=1", fault.ArgumentRefused}, {"publish", "X!=id", fault.ArgumentRefused}, {"publish", "X != id", fault.ArgumentRefused},
		{"publish", "$(shell id)", fault.ArgumentRefused}, {"publish", "A B=1", fault.ArgumentRefused}, {"publish", "=1", fault.ArgumentRefused},
		{"publish", "override SHELL=/x", fault.ArgumentRefused}, {"publish", "X=1\nSHELL=/x", fault.ArgumentRefused},
		{"publish", "PATH=/tmp", fault.EnvForbidden}, {"publish", "LD_PRELOAD=/tmp/x", fault.EnvForbidden}, {"spec", "RUBYOPT=-rx", fault.EnvForbidden},
		{"publish", "nosuch", fault.ArgumentRefused}, {"fmt", "nosuch", fault.ArgumentRefused}, {"spec", "spec[x]", fault.ArgumentRefused},
		{"clean", "org.codehaus.mojo:exec-maven-plugin:exec", fault.ArgumentRefused},
		{"start", "a\x00b", fault.SchemaValidationFailed}, {"start", "\xff", fault.SchemaValidationFailed},
		{"start", strings.Repeat("x", MaxArgBytes+1), fault.SchemaValidationFailed},
	} {
		l.refused(Request{Name: c.task, Args: []string{c.arg}}, c.code)
	}
	l.refused(Request{Name: "start", Args: make([]string, MaxArgs+1)}, fault.SchemaValidationFailed)
	l.runs(Request{Name: "start", Args: slices.Repeat([]string{strings.Repeat("x", MaxArgBytes)}, MaxArgs)})
}

func TestAFurtherTargetAmongTheArgumentsIsAllowedByItself(t *testing.T) {
	l := everything(t)
	l.allow(entry("ROOT/Makefile", "Task", `tasks = ["build"]`) + entry("ROOT/justfile", "Task", `tasks = ["greet"]`))
	if f := l.refused(Request{Name: "build-m", Args: []string{"V=1", "publish"}}, fault.NotAllowlisted); f.Details != any(Denial{"publish", "Makefile", "argument"}) {
		t.Errorf("%+v", f)
	}
	l.refused(Request{Name: "greet", Args: []string{"fmt", "fmt"}}, fault.NotAllowlisted)
	l.runs(Request{Name: "greet", Args: []string{"fmt"}})
}

func TestOptionsNeedTheirEntrysConsent(t *testing.T) {
	l := everything(t)
	l.allow(entry("ROOT/package.json", "Task", "tasks = [\"start\"]\noptions = true") + entry("ROOT/Makefile", "Task", "tasks = [\"publish\"]\noptions = true"))
	if got := l.runs(Request{Name: "start", Args: []string{"--", "-x"}}); got != "npm|run|start|--|-x" {
		t.Error(got)
	}
	if got := l.runs(Request{Name: "publish", Args: []string{"-j4"}}); got != "make|publish|-j4" {
		t.Error(got)
	}
	l.refused(Request{Name: "publish", Args: []string{"--eval=$(shell id)"}}, fault.ArgumentRefused)
	l.refused(Request{Name: "publish", Args: []string{"SHELL=x"}}, fault.ArgumentRefused)
}

// The rows of surface env in the list of hostile inputs, and the contract's.
func TestVariablesThatChooseWhatRunsAreRefusedByName(t *testing.T) {
	l := everything(t)
	for _, name := range strings.Fields(`LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV ENV SHELLOPTS PS4 PROMPT_COMMAND IFS
		NODE_OPTIONS RUBYOPT PERL5OPT PERL5LIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS RUSTC_WRAPPER CARGO_HOME npm_config_script_shell NPM_CONFIG_USERCONFIG
		HTTP_PROXY HTTPS_PROXY http_proxy SSL_CERT_FILE NODE_EXTRA_CA_CERTS OPENAI_BASE_URL ANTHROPIC_BASE_URL PATH path Path HOME GIT_SSH_COMMAND GIT_DIR
		PYTHONPATH PYTHONSTARTUP PYTHONHOME MAKEFLAGS MAKEFILES GOFLAGS SHELL BASH_FUNC_ls COMPOSE_FILE JUST_JUSTFILE XDG_CONFIG_HOME`) {
		f := l.refused(Request{Name: "start", Env: map[string]string{name: "secret-value", "FINE": "1"}}, fault.EnvForbidden)
		if !strings.Contains(f.Message, name) || strings.Contains(f.Message+f.Hint, "secret-value") || strings.Contains(f.Message, "FINE") {
			t.Errorf("%s: %s", name, f.Message)
		}
	}
	for _, name := range []string{"A\x00B", "A=B", "", "1A", "A B", "A.B", "Ä"} {
		l.refused(Request{Name: "start", Env: map[string]string{name: "x"}}, fault.EnvForbidden)
	}
	l.refused(Request{Name: "start", Env: map[string]string{"A": "x\x00"}}, fault.EnvForbidden)
	l.refused(Request{Name: "start", Env: map[string]string{"A": strings.Repeat("x", MaxArgBytes+1)}}, fault.SchemaValidationFailed)
	for _, name := range strings.Fields("NODE_ENV DEBUG CI CC CFLAGS PYTHON PYTHONUNBUFFERED PREFIX GOOS VERBOSE API_BASE_URL env RUST_LOG TERM") {
		if _, err := l.decide(Request{Name: "start", Env: map[string]string{name: "x"}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := l.refused(Request{Name: "start", Env: map[string]string{"PATH": "", "LD_PRELOAD": "", "A": ""}}, fault.EnvForbidden)
	if !slices.Equal(f.Details.(Refused).Refused, []string{"LD_PRELOAD", "PATH"}) {
		t.Errorf("%+v", f.Details)
	}
}

func TestAnEntryMayAllowARefusedVariable(t *testing.T) {
	l := everything(t)
	l.allow(entry("ROOT/package.json", "File", `allow_env = ["HTTP_PROXY"]`) + entry("ROOT/Makefile", "File", `allow_env = ["GIT_TAG"]`))
	inv, err := l.decide(Request{Name: "start", Env: map[string]string{"HTTP_PROXY": "http://x"}})
	if err != nil || !slices.Contains(inv.Env, "HTTP_PROXY=http://x") {
		t.Errorf("%v, %v", inv.Env, err)
	}
	l.refused(Request{Name: "start", Env: map[string]string{"HTTPS_PROXY": "x"}}, fault.EnvForbidden)
	l.runs(Request{Name: "publish", Args: []string{"GIT_TAG=v1"}})
	l.refused(Request{Name: "publish", Env: map[string]string{"HTTP_PROXY": "x"}}, fault.EnvForbidden)
}

func TestTheEnvironmentIsBuiltFromAFixedBase(t *testing.T) {
	l := everything(t)
	l.open(Options{Env: []string{"LC_ALL=C", "OPENAI_API_KEY=k", "GOPATH=/go", "MINE=1", "LANG=a", "LANG=b"}, Inherit: []string{"MINE"}})
	inv, err := l.decide(Request{Name: "start"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"GOPATH=/go", "HOME=" + l.home, "LANG=b", "LC_ALL=C", "MINE=1", "PATH=" + l.bin}; !slices.Equal(inv.Env, want) {
		t.Errorf("%q, want %q", inv.Env, want)
	}
}

// The rows of surface path that are about a folder.
func TestAFolderOutsideOfTheRootIsRefused(t *testing.T) {
	l := everything(t)
	for _, dir := range []string{l.root + "-evil", l.root + "2"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.link("/etc", "out")
	l.link("loop", "loop")
	l.link(l.root+"/sub", "absolute")
	l.link("sub", "inside")
	for _, dir := range []string{
		"../outside", "foo/../../etc", "..", "/", "/etc", l.root + "/../" + "project-evil", l.root + "-evil", l.root + "2", "out", "out/ssh", "absolute",
		"/proc/self/root/etc", "/proc/self/cwd", "../nothing/here",
	} {
		l.refused(Request{Name: "start", Cwd: dir}, fault.PathOutsideRoot)
		if _, err := l.p.List(t.Context(), dir); !fault.Is(err, fault.PathOutsideRoot) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{"loop", "nothing", "Makefile", "a\x00b", "%2e%2e", "．．", "file:///etc", strings.Repeat("a/", 3000), strings.Repeat("a", 300)} {
		l.refused(Request{Name: "start", Cwd: dir}, fault.InvalidInput)
	}
	inv, err := l.decide(Request{Name: "build", Cwd: "inside"})
	if err != nil || inv.Dir != l.root+"/sub" || inv.Cwd != "sub" {
		t.Errorf("%+v, %v", inv, err)
	}
}

func TestInAnotherFolderTheSameFileIsUsed(t *testing.T) {
	l := everything(t)
	for _, c := range []struct{ task, cwd, want string }{
		{"build", "sub", "make|build"}, // the folder's own
		{"only", "sub", "make|only"},
		{"publish", "sub", "make|-f|../Makefile|publish"},
		{"publish", "sub/deep/er", "make|-f|../../../Makefile|publish"},
		{"run", "empty", "sh|../run.sh"},
		{"fmt", "empty", "just|--justfile|../justfile|--working-directory|.|fmt"},
		{"verify", "empty", "mvn|-f|../pom.xml|verify"},
		{"start", "empty", "npm|run|start"},
	} {
		inv, err := l.decide(Request{Name: c.task, Cwd: c.cwd})
		if got := strings.Join(inv.Argv, "|"); err != nil || got != c.want || inv.Cwd != c.cwd || inv.Dir != l.root+"/"+c.cwd {
			t.Errorf("%s in %s: %q in %s, %v", c.task, c.cwd, got, inv.Dir, err)
		}
	}
	// npm would take the package.json on the way, which is another than the allowed one.
	l.refused(Request{Name: "start", Cwd: "sub/deep/er"}, fault.InvalidInput)
	// The folder's own file is allowed by itself.
	l.allow(entry("ROOT/Makefile", "File", ""))
	l.refused(Request{Name: "build", Cwd: "sub"}, fault.NotAllowlisted)
	l.runs(Request{Name: "build-m"})
}

// H141.
func TestAChangedRecipeNeedsAHumanAgain(t *testing.T) {
	l := newLab(t, "-- Makefile --\nV = 1\nbuild: dep\n\tcc\ndep: deeper\n\tgen\ndeeper:\n\tdig\nother:\n\tx\n%.o:\n\tcc -c\n-- justfile --\nfmt: dep2\n    rustfmt\ndep2:\n    gen\nlint:\n    x\n-- run.sh --\necho\n")
	l.install("make", "just", "sh")
	file := ""
	for _, x := range l.list("").Targets {
		if x.Name == "build" || x.Name == "fmt" || x.Name == "run" {
			file += entry("ROOT/"+x.FilePath, "Task", `tasks = ["`+x.Name+`"]`+"\nsha256 = \""+strings.ToUpper(x.Recipe())+`"`)
		}
	}
	l.allow(file)
	for _, name := range []string{"build", "fmt", "run"} {
		l.runs(Request{Name: name})
	}
	makefile := "V = 1\nbuild: dep\n\tcc\ndep: deeper\n\tgen\ndeeper:\n\tdig\nother:\n\tx\n%.o:\n\tcc -c\n"
	for change, changes := range map[string]bool{
		"other:\n\tx>other:\n\ty":                   false, // another recipe
		"\tcc\n>\tcc -O\n":                          true,
		"\tgen>\tevil":                              true, // of what it depends on
		"\tdig>\tevil":                              true,
		"V = 1>V = 2":                               true,
		"\tcc -c>\tevil":                            true, // a pattern rule's
		"build: dep>build: dep other":               true,
		"other:\n\tx\n>other:\n\tx\nbuild:\n\tmore": true,
	} {
		from, to, _ := strings.Cut(change, ">")
		l.write("Makefile", strings.Replace(makefile, from, to, 1))
		if !changes {
			l.runs(Request{Name: "build"})
			continue
		}
		f := l.refused(Request{Name: "build"}, fault.NeedsReapproval)
		if f.Message != "Task 'build' has changed since it was allowlisted" || f.Details.(Denial).Reason != "recipe_changed" {
			t.Errorf("%+v", f)
		}
	}
	l.write("justfile", "fmt: dep2\n    rustfmt\ndep2:\n    gen\nlint:\n    y\n")
	l.runs(Request{Name: "fmt"})
	l.write("justfile", "fmt: dep2\n    rustfmt\ndep2:\n    evil\nlint:\n    y\n")
	l.refused(Request{Name: "fmt"}, fault.NeedsReapproval)
	l.write("run.sh", "evil\n")
	l.refused(Request{Name: "run"}, fault.NeedsReapproval)
	l.allow(file + entry("ROOT/run.sh", "File", "")) // an entry without a pin
	l.runs(Request{Name: "run"})
}
