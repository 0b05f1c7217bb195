package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
)

const configurationFile = "../../docs/configuration.md"

// configurationDocument is docs/configuration.md: every setting, from the struct that
// holds them.
func configurationDocument() string {
	var b strings.Builder
	b.WriteString(`# Configuration

Made from ` + "`cmd/gantry/config.go`" + ` by ` + "`go test ./cmd/gantry -update`" + `; do not edit.

Every setting is a key of the configuration file and a flag of every command. A flag wins over the file, the file over the default.
The file is the one that ` + "`--config FILE`" + ` names, else ` + "`gantry/gantry.toml`" + ` under ` + "`$XDG_CONFIG_HOME`" + `
(` + "`~/.config`" + ` when that is not set), if it is there. An unknown key is refused.

| key | flag | value | default | meaning |
|---|---|---|---|---|
`)
	for _, s := range new(config).settings() {
		kind := map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Int: "number", reflect.Slice: "list"}[s.value.Kind()]
		help, standard := s.Help, s.Default
		if before, after, ok := strings.Cut(s.Help, " (default: "); ok {
			help, standard = before, strings.TrimSuffix(after, ")")
		} else if standard == "" && kind == "true or false" {
			standard = "`false`"
		} else if standard != "" {
			standard = "`" + standard + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `--%s` | %s | %s | %s |\n", s.Key, s.Flag, kind, standard, help)
	}
	b.WriteString(`
The table ` + "`[tools]`" + ` takes tools out of the server: ` + "`enable_<name> = false`" + `, such as ` + "`enable_task_archive`" + ` or, as in codex-tasks,
` + "`enable_archive`" + `. ` + "`codex_compat = true`" + ` offers the tools ` + "`codex` and `codex-reply`" + ` of Codex's former server. These have no flags.

Two kinds of table may be there several times. They have no flags.
`)
	documentTable(&b, "projects", "a project of the board", reflect.TypeFor[projectTable]())
	documentTable(&b, "executors", "an agent of yours, which may be any command", reflect.TypeFor[executorTable]())
	b.WriteString(`
## [[sites]]

A documentation site whose product pages ` + "`launch_start_run_from_product_url`" + ` knows, besides those that ship. Its keys are those of
` + "`specs/sites/aspose.json`" + `, which is an example: name, brand, hosts, families, platforms, product_slug, product_name, repository, repositories,
repository_names. Two sites cannot have the same host.
`)
	b.WriteString(`
A file that changes two settings and adds one of each:

` + "```toml" + `
rate_limit = 300
toolsets = ["launch", "board"]

[[projects]]
name = "shop"
repos = [{ path = "/home/me/shop-api", name = "api" }, { path = "/home/me/shop-web", name = "web" }]

[[executors]]
name = "SCRIPT"
command = ["./agent.sh", "{prompt}"]
` + "```" + `
`)
	return b.String()
}

// documentTable writes the keys of a table that may be there several times.
func documentTable(b *strings.Builder, name, is string, table reflect.Type) {
	fmt.Fprintf(b, "\n## [[%s]]\n\n%s.\n\n| key | value | meaning |\n|---|---|---|\n", name, strings.ToUpper(is[:1])+is[1:])
	for i := range table.NumField() {
		f := table.Field(i)
		kind := map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "list"}[f.Type.Kind()]
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", f.Tag.Get("toml"), kind, f.Tag.Get("help"))
	}
}

func TestTablesOfTheConfigurationAreRead(t *testing.T) {
	c := loaded(t, `[[projects]]
name = "shop"
repos = [{ path = "/a/api" }, { path = "/b/web", name = "site" }]
[[executors]]
name = "SCRIPT"
command = ["./agent.sh", "{prompt}"]
variants = ["FAST"]
[[executors]]
name = "OTHER"
command = ["other"]
output = "jsonl"`)
	if p := c.projects(); len(p) != 1 || p[0].Name != "shop" || len(p[0].Repos) != 2 || p[0].Repos[1].Name != "site" || p[0].Repos[0].Path != "/a/api" {
		t.Errorf("%+v", p)
	}
	if e := c.customAgents(); len(e) != 2 || e[0].Name != "SCRIPT" || len(e[0].Command) != 2 || e[0].Variants[0] != "FAST" || e[1].Output != "jsonl" {
		t.Errorf("%+v", e)
	}
	if g, err := loaded(t, "[board]\ndiff_guard = \"relaxed\"").Board.guard(); g != changes.Relaxed() || err != nil {
		t.Errorf("%+v %v", g, err)
	}
	for _, bad := range []string{`[[projects]]`, "[board]\ndiff_guard = \"none\"", "[[projects]]\nname = \"x\"\nrepos = [{ path = \"here\" }]", "[[executors]]\nname = \"X\"", "[[executors]]\ncomand = [\"x\"]", "[[sites]]\nname = \"x\""} {
		home := t.TempDir()
		write(t, filepath.Join(home, "gantry", "gantry.toml"), bad+"\n")
		c := &cli{std: streams{}, env: []string{"XDG_CONFIG_HOME=" + home, "HOME=/nonexistent"}}
		set := pflag.NewFlagSet("gantry", pflag.ContinueOnError)
		c.config.bind(set)
		if err := c.load(set); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestConfigurationDocumentSaysWhatTheSettingsAre(t *testing.T) {
	want := configurationDocument()
	if *update {
		if err := os.WriteFile(configurationFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(configurationFile); err != nil || string(got) != want {
		t.Errorf("%s is not what config.go says: %v (go test ./cmd/gantry -update writes it)", configurationFile, err)
	}
}

// Every setting can be given in the file and as a flag of every command, and both
// mean the same.
func TestEverySettingIsAKeyAndAFlag(t *testing.T) {
	root := rootCommand(streams{}, nil)
	for _, s := range new(config).settings() {
		if s.Key == "" || s.Flag == "" || s.Help == "" {
			t.Errorf("setting %+v lacks a key, a flag or a meaning", s)
		}
		if root.PersistentFlags().Lookup(s.Flag) == nil {
			t.Errorf("there is no flag --%s", s.Flag)
		}
		inFile, asFlag := otherValue(t, s)
		fromFile := loaded(t, s.Key+" = "+inFile)
		fromFlag := loaded(t, "", "--"+s.Flag+"="+asFlag)
		standard := loaded(t, "")
		if !reflect.DeepEqual(fromFile, fromFlag) {
			t.Errorf("%s: the file gives %+v, the flag %+v", s.Key, fromFile, fromFlag)
		}
		if reflect.DeepEqual(fromFile, standard) {
			t.Errorf("%s changes nothing", s.Key)
		}
		if both := loaded(t, s.Key+" = "+defaultValue(s), "--"+s.Flag+"="+asFlag); !reflect.DeepEqual(both, fromFlag) {
			t.Errorf("%s: the flag does not win over the file", s.Key)
		}
	}
}

// otherValue is a value that is not the default, as TOML and as a flag.
func otherValue(t *testing.T, s setting) (inFile, asFlag string) {
	switch {
	case s.Key == "log_format":
		return `"text"`, "text"
	case s.Key == "telemetry.api_url":
		return `"https://telemetry.example"`, "https://telemetry.example"
	case s.Key == "server.log_level":
		return `"warn"`, "warn"
	case s.Key == "board.diff_guard":
		return `"off"`, "off"
	case s.value.Kind() == reflect.Bool:
		return "true", "true"
	case s.value.Kind() == reflect.Int:
		return "7", "7"
	case s.value.Kind() == reflect.Slice:
		return `["a", "b"]`, "a,b"
	}
	dir := t.TempDir()
	return `"` + dir + `"`, dir
}

func defaultValue(s setting) string {
	switch s.value.Kind() {
	case reflect.Bool:
		return "false"
	case reflect.Int:
		return s.Default
	case reflect.Slice:
		return `["x"]`
	}
	return `"` + map[string]string{"log_format": "json", "board.diff_guard": "balanced", "server.log_level": "info", "telemetry.api_url": "http://127.0.0.1:8000"}[s.Key] + `"`
}

// loaded is the configuration that a file and flags make.
func loaded(t *testing.T, file string, flags ...string) config {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, "gantry", "gantry.toml"), file+"\n")
	c := &cli{std: streams{}, env: []string{"XDG_CONFIG_HOME=" + home, "HOME=/nonexistent"}}
	set := pflag.NewFlagSet("gantry", pflag.ContinueOnError)
	c.config.bind(set)
	if err := set.Parse(flags); err != nil {
		t.Fatal(err)
	}
	if err := c.load(set); err != nil {
		t.Fatal(err)
	}
	return c.config
}
