package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gantry-run/gantry/specs"
)

// parses fails unless the program takes the words: a command, and flags that it has.
func parses(t *testing.T, where string, words []string) {
	t.Helper()
	root := rootCommand(streams{strings.NewReader(""), io.Discard, io.Discard}, nil)
	cmd, flags, err := root.Find(words)
	if err != nil || cmd == root {
		t.Errorf("%s: %q is no command: %v", where, words, err)
		return
	}
	all := func(c *cobra.Command) *pflag.FlagSet {
		c.InheritedFlags() // joins those of the parents
		return c.Flags()
	}(cmd)
	if err := all.Parse(flags); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	if rest := all.Args(); len(rest) > 0 {
		t.Errorf("%s: %q are left over", where, rest)
	}
}

func TestTheUnitOfSystemdStartsTheProgram(t *testing.T) {
	t.Parallel()
	unit := map[string]string{}
	section := ""
	for line := range strings.Lines(read(t, deployed+"/gantry.service")) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = strings.Trim(line, "[]")
		case ok && section != "":
			unit[section+"."+name] = value
		default:
			t.Errorf("no setting: %q", line)
		}
	}
	words := strings.Fields(unit["Service.ExecStart"])
	if len(words) < 2 || filepath.Base(words[0]) != "gantry" {
		t.Fatalf("ExecStart is %q", words)
	}
	parses(t, "gantry.service", words[1:])
	for name, want := range map[string]string{
		"Service.KillMode": "process", "Service.StateDirectory": "gantry", "Service.Restart": "on-failure", "Install.WantedBy": "multi-user.target",
	} {
		if unit[name] != want {
			t.Errorf("%s is %q, want %q", name, unit[name], want)
		}
	}
}

// instruction is a line of a Dockerfile.
type instruction struct{ name, rest string }

func dockerfile(t *testing.T) (out []instruction) {
	t.Helper()
	text := strings.ReplaceAll(read(t, deployed+"/Dockerfile"), "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		known := []string{"FROM", "WORKDIR", "COPY", "RUN", "ARG", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
		if !slices.Contains(known, name) || strings.TrimSpace(rest) == "" {
			t.Errorf("no instruction: %q", line)
		}
		out = append(out, instruction{name, strings.TrimSpace(rest)})
	}
	return out
}

// words decodes the exec form of an instruction.
func (i instruction) words(t *testing.T) (out []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(i.rest), &out); err != nil {
		t.Errorf("%s %s: %v", i.name, i.rest, err)
	}
	return out
}

// No engine is at hand here that could build it: the file is held against the repository
// and the program.
func TestTheImageIsMadeOfWhatIsThere(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "../../go.mod"))[1]
	stages, start := []string{}, map[string][]string{}
	for _, i := range dockerfile(t) {
		words := strings.Fields(i.rest)
		switch i.name {
		case "FROM":
			if strings.HasPrefix(i.rest, "golang:") && !strings.HasPrefix(i.rest, "golang:"+version+"-") {
				t.Errorf("the image builds with %s, go.mod wants Go %s", words[0], version)
			}
			if len(words) == 3 {
				stages = append(stages, words[2])
			}
		case "COPY":
			if from, ok := strings.CutPrefix(words[0], "--from="); ok {
				if !slices.Contains(stages, from) {
					t.Errorf("there is no stage %s", from)
				}
				continue
			}
			for _, file := range words[:len(words)-1] {
				if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
					t.Error(err)
				}
			}
		case "ENTRYPOINT", "CMD":
			start[i.name] = i.words(t)
		}
	}
	parses(t, "Dockerfile", append(start["ENTRYPOINT"][1:], start["CMD"]...))
}

type composeFile struct {
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		Command     []string
		Volumes     []string
		Ports       []string
		Secrets     []string
		DependsOn   []string `yaml:"depends_on"`
		NetworkMode string   `yaml:"network_mode"`
	}
	Secrets map[string]struct{ File string }
	Volumes map[string]any
}

func TestTheComposeFileIsOfOnePiece(t *testing.T) {
	t.Parallel()
	var file composeFile
	if err := yaml.Unmarshal([]byte(read(t, deployed+"/compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	exists := func(path string) {
		if _, err := os.Stat(filepath.Join(deployed, path)); err != nil {
			t.Error(err)
		}
	}
	for name, s := range file.Services {
		if s.Image == "" {
			exists(filepath.Join(s.Build.Context, s.Build.Dockerfile))
			for _, i := range dockerfile(t) {
				if i.name == "ENTRYPOINT" {
					parses(t, name, append(i.words(t)[1:], s.Command...))
				}
			}
		}
		for _, v := range s.Volumes {
			switch source, _, _ := strings.Cut(v, ":"); {
			case strings.HasPrefix(source, "./"):
				exists(source)
			case strings.HasPrefix(source, "${"):
			default:
				if _, ok := file.Volumes[source]; !ok {
					t.Errorf("%s: there is no volume %s", name, source)
				}
			}
		}
		for _, p := range s.Ports {
			if host, _, ok := strings.Cut(p, ":"); !ok || !net.ParseIP(host).IsLoopback() {
				t.Errorf("%s listens beyond this machine: %s", name, p)
			}
		}
		for _, other := range append(s.DependsOn, strings.TrimPrefix(s.NetworkMode, "service:")) {
			if _, ok := file.Services[other]; other != "" && !ok {
				t.Errorf("%s: there is no service %s", name, other)
			}
		}
		for _, secret := range s.Secrets {
			if file.Secrets[secret].File == "" {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
		}
	}
	for _, path := range []string{"/grafana/provisioning/datasources/prometheus.yml", "/grafana/provisioning/dashboards/gantry.yml"} {
		var any struct {
			APIVersion int `yaml:"apiVersion"`
		}
		if err := yaml.Unmarshal([]byte(read(t, deployed+path)), &any); err != nil || any.APIVersion != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The codes that rules name are codes that there are.
func TestRulesNameCodesThatThereAre(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`gantry_error_code=~?"([^"]+)"`).FindAllStringSubmatch(read(t, deployed+"/prometheus/rules.yml"), -1)
	if len(found) == 0 {
		t.Fatal("no rule names a code")
	}
	for _, m := range found {
		for pattern := range strings.SplitSeq(m[1], "|") {
			is := regexp.MustCompile("^(?:" + pattern + ")$")
			if !slices.ContainsFunc(specs.Errors(), func(e specs.ErrorInfo) bool { return is.MatchString(string(e.Code)) }) {
				t.Errorf("no code is %s", pattern)
			}
		}
	}
}
