package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

func find(t testing.TB, o agents.Options, name string) agents.CLI {
	t.Helper()
	all, err := agents.CLIs(o)
	if err != nil {
		t.Fatal(err)
	}
	cli, err := all.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return cli
}

func TestHowEachTurnIsStarted(t *testing.T) {
	t.Parallel()
	turn := agents.Turn{Prompt: "do it", Dir: demo}
	with := func(change func(*agents.Turn)) agents.Turn { changed := turn; change(&changed); return changed }
	full := agents.Options{FullAccess: true, Custom: custom}
	for _, c := range []struct {
		cli   string
		o     agents.Options
		turn  agents.Turn
		want  string
		stdin string
	}{
		{"codex", agents.Options{}, turn, "codex exec --json --skip-git-repo-check --color never -C /work/demo --sandbox workspace-write -", "do it"},
		{"codex", full, turn, "codex exec --json --skip-git-repo-check --color never -C /work/demo --dangerously-bypass-approvals-and-sandbox -", "do it"},
		{"CODEX", full, with(func(t *agents.Turn) { t.Variant = "read-only" }), "codex exec --json --skip-git-repo-check --color never -C /work/demo --sandbox read-only -", "do it"},
		{"codex", agents.Options{}, with(func(t *agents.Turn) { t.Variant, t.Model, t.Thread = "HIGH", "gpt-5.5", "01a1" }),
			"codex exec --json --skip-git-repo-check --color never -C /work/demo --sandbox workspace-write -c model_reasoning_effort=\"high\" --model gpt-5.5 resume 01a1 -", "do it"},
		{"claude-code", agents.Options{}, turn, "claude -p --output-format stream-json --verbose --permission-mode acceptEdits", "do it"},
		{"CLAUDE_CODE", agents.Options{}, with(func(t *agents.Turn) { t.Variant, t.Thread = "opus", "fb66" }),
			"claude -p --output-format stream-json --verbose --permission-mode acceptEdits --model opus --resume fb66", "do it"},
		{"claude_code", full, turn, "claude -p --output-format stream-json --verbose --dangerously-skip-permissions", "do it"},
		{"claude_code", full, with(func(t *agents.Turn) { t.Variant = "PLAN" }), "claude -p --output-format stream-json --verbose --permission-mode plan", "do it"},
		{"gemini", agents.Options{}, with(func(t *agents.Turn) { t.Variant = "FLASH" }), "gemini --output-format stream-json --skip-trust --approval-mode auto_edit --model flash", "do it"},
		{"gemini", full, with(func(t *agents.Turn) { t.Thread = "8c1f" }), "gemini --output-format stream-json --skip-trust --approval-mode yolo --resume 8c1f", "do it"},
		{"gemini", full, with(func(t *agents.Turn) { t.Variant = "PLAN" }), "gemini --output-format stream-json --skip-trust --approval-mode plan", "do it"},
		{"opencode", agents.Options{}, with(func(t *agents.Turn) { t.Model, t.Thread = "anthropic/opus", "ses_1" }), "opencode run --format json --thinking --model anthropic/opus --session ses_1", "do it"},
		{"opencode", full, turn, "opencode run --format json --thinking --auto", "do it"},
		{"opencode", full, with(func(t *agents.Turn) { t.Variant = "PLAN" }), "opencode run --format json --thinking --agent plan", "do it"},
		{"script", full, turn, "./agent.sh do it", ""},
		{"script", full, with(func(t *agents.Turn) { t.Prompt = "say {dir} {prompt}; $(rm -rf /)" }), "./agent.sh say {dir} {prompt}; $(rm -rf /)", ""},
		{"script", full, with(func(t *agents.Turn) { t.Thread = "abc" }), "./agent.sh do it", ""},
		{"json_agent", full, turn, "json-agent -", "do it"},
		{"json_agent", full, with(func(t *agents.Turn) { t.Thread = "abc" }), "json-agent --resume abc -", "do it"},
	} {
		inv, err := find(t, c.o, c.cli).Turn(c.turn)
		if err != nil {
			t.Fatal(c.cli, err)
		}
		if got := strings.Join(append([]string{inv.Name}, inv.Args...), " "); got != c.want || string(inv.Stdin) != c.stdin {
			t.Errorf("%s: %s, input %q\nwant %s", c.cli, got, inv.Stdin, c.want)
		}
	}
}

// Nothing that a caller says becomes an option of a CLI, and the modes that a CLI has
// beyond its variants cannot be asked for.
func TestATurnThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*agents.Turn){
		"no prompt":           func(t *agents.Turn) { t.Prompt = " \n" },
		"a variant":           func(t *agents.Turn) { t.Variant = "danger-full-access" },
		"DEFAULT":             func(t *agents.Turn) { t.Variant = "DEFAULT" },
		"an option as model":  func(t *agents.Turn) { t.Model = "--dangerously-skip-permissions" },
		"an option as thread": func(t *agents.Turn) { t.Thread = "--last" },
		"a line as thread":    func(t *agents.Turn) { t.Thread = "a\nb" },
		"a space in a model":  func(t *agents.Turn) { t.Model = "m -c sandbox=x" },
	} {
		for _, cli := range registry(t) {
			turn := agents.Turn{Prompt: "p", Dir: demo}
			change(&turn)
			if inv, err := cli.Turn(turn); !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s, %s: %v, %v", cli.Name(), name, inv, err)
			}
		}
	}
	for _, cli := range registry(t) {
		turn := agents.Turn{Prompt: "p", Dir: demo, ConfigFile: "/work/evil.json"}
		if _, err := cli.Turn(turn); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s takes a configuration file: %v", cli.Name(), err)
		}
	}
}

func TestWhatAnAgentInherits(t *testing.T) {
	t.Parallel()
	server := []string{
		"PATH=/bin", "HOME=/home/u", "GOFLAGS=-v", "OPENAI_API_KEY=k1", "ANTHROPIC_API_KEY=k2", "GANTRY_AUTH_TOKEN=secret", "AWS_SECRET_ACCESS_KEY=k3",
		"CODEX_HOME=/home/u/.codex", "CODEX_SANDBOX=seatbelt", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CONFIG_DIR=/c", "MINE=1", "GITHUB_TOKEN=k4",
	}
	o := agents.Options{Inherit: []string{"MINE"}, Custom: []agents.Custom{{Name: "SCRIPT", Command: []string{"x"}, Env: []string{"A=1", "B=1"}}}}
	turn := agents.Turn{Prompt: "p", Dir: demo, Env: server, ExtraEnv: []string{"B=2", "MINE=2"}}
	for cli, want := range map[string]string{
		"CODEX":       "B=2 CODEX_HOME=/home/u/.codex GOFLAGS=-v HOME=/home/u MINE=2 OPENAI_API_KEY=k1 PATH=/bin",
		"CLAUDE_CODE": "ANTHROPIC_API_KEY=k2 B=2 CLAUDE_CONFIG_DIR=/c GOFLAGS=-v HOME=/home/u MINE=2 PATH=/bin",
		"SCRIPT":      "A=1 B=2 GOFLAGS=-v HOME=/home/u MINE=2 PATH=/bin",
	} {
		inv, err := find(t, o, cli).Turn(turn)
		if got := strings.Join(inv.Env, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v\nwant %s", cli, got, err, want)
		}
	}
	turn.ConfigFile = "/work/codex/config.toml"
	inv, err := find(t, o, "codex").Turn(turn)
	if err != nil || proc.Getenv(inv.Env, "CODEX_HOME") != "/work/codex" {
		t.Errorf("%v, %v", inv.Env, err)
	}
	if !slices.IsSorted(inv.Env) {
		t.Errorf("%v", inv.Env)
	}
}

func TestACustomAgentThatIsNotRightIsNamed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]agents.Custom{
		"is none":                {Name: "a b", Command: []string{"x"}},
		"A has no command":       {Name: "A"},
		"resume of B is empty":   {Name: "B", Command: []string{"x"}, Resume: []string{}},
		"output of C":            {Name: "C", Command: []string{"x"}, Output: "xml"},
		"session_pattern of D":   {Name: "D", Command: []string{"x"}, SessionPattern: "("},
		"session_pattern of E":   {Name: "E", Command: []string{"x"}, SessionPattern: "no group"},
		"env of F":               {Name: "F", Command: []string{"x"}, Env: []string{"novalue"}},
		`variant "DEFAULT" of G`: {Name: "G", Command: []string{"x"}, Variants: []string{"default"}},
	} {
		_, err := agents.CLIs(agents.Options{Custom: []agents.Custom{c}})
		if !fault.Is(err, fault.ConfigInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestACustomAgentMayReplaceOneOfOurs(t *testing.T) {
	t.Parallel()
	all, err := agents.CLIs(agents.Options{Custom: []agents.Custom{{Name: "codex", Command: []string{"my-codex"}, Variants: []string{"b", "A"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name())
	}
	if diff := cmp.Diff([]string{"CODEX", "CLAUDE_CODE", "GEMINI", "OPENCODE"}, names); diff != "" {
		t.Error(diff)
	}
	cli, _ := all.Find("codex")
	if inv, err := cli.Turn(agents.Turn{Prompt: "p", Dir: demo}); err != nil || inv.Name != "my-codex" || !slices.Equal(cli.Variants(), []string{"A", "B"}) {
		t.Errorf("%+v, %v, %v", inv, cli.Variants(), err)
	}
	if _, err := all.Find("nobody"); !fault.Is(err, fault.InvalidInput) || !strings.Contains(fault.From(err).Hint, "CLAUDE_CODE") {
		t.Errorf("%v", err)
	}
}

func TestVariantsAreSortedAndNoneIsDEFAULT(t *testing.T) {
	t.Parallel()
	for _, cli := range registry(t) {
		v := cli.Variants()
		if !slices.IsSorted(v) || slices.Contains(v, "DEFAULT") || cli.Name() != agents.Normalize(cli.Name()) {
			t.Errorf("%s: %v", cli.Name(), v)
		}
		for _, name := range v {
			if _, err := cli.Turn(agents.Turn{Prompt: "p", Dir: demo, Variant: strings.ToLower(name)}); err != nil {
				t.Errorf("%s %s: %v", cli.Name(), name, err)
			}
		}
	}
}

// fakes returns an environment with programs that answer to --version.
func fakes(t *testing.T) []string {
	t.Helper()
	bin, err := filepath.Abs(filepath.Join("testdata", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + bin + ":/bin"}
}

func TestAProbeSaysWhatIsInstalledAndWorks(t *testing.T) {
	t.Parallel()
	var got []agents.Probe
	for _, cli := range registry(t) {
		got = append(got, cli.Probe(t.Context(), fakes(t)))
	}
	want := []agents.Probe{
		{Name: "CODEX", Program: "codex", Installed: true, Version: "codex-cli 1.2.3", Works: true},
		{Name: "CLAUDE_CODE", Program: "claude", Installed: true, Reason: "claude exited with code 3: broken"},
		{Name: "GEMINI", Program: "gemini", Reason: "it is not installed: npm install -g @google/gemini-cli"},
		{Name: "OPENCODE", Program: "opencode", Installed: true, Version: "1.0", Works: true},
		{Name: "SCRIPT", Program: "./agent.sh", Installed: true, Works: true},
		{Name: "JSON_AGENT", Program: "json-agent", Reason: "it is not installed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAProberAsksOnceAMinute(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := agents.NewProber(registry(t), append(fakes(t), "TMPDIR="+dir))
	for range 3 {
		var names []string
		for _, c := range p.Working(t.Context()) {
			names = append(names, c.Name())
		}
		if diff := cmp.Diff([]string{"CODEX", "OPENCODE", "SCRIPT"}, names); diff != "" {
			t.Error(diff)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "asked")); string(b) != "asked\n" {
		t.Errorf("it was asked %q, %v", b, err)
	}
}

func TestEachCommandLineAndVariantIsInTheDocument(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := agents.CLIs(agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cli := range all {
		row := ""
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "| `"+cli.Name()+"` |") {
				row = line
			}
		}
		for _, v := range append(cli.Variants(), cli.Name()) {
			if !strings.Contains(row, "`"+v+"`") {
				t.Errorf("docs/agents.md does not name %s of %s", v, cli.Name())
			}
		}
	}
}
