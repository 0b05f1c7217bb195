package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/codextest"
)

func (w *world) config(words ...string) (out, errs string) {
	w.t.Helper()
	code, out, errs := w.gantry(append([]string{"config"}, words...)...)
	if code != 0 {
		w.t.Fatalf("gantry config %v: exit code %d: %s", words, code, errs)
	}
	return out, errs
}

// The form is that of the seed, with the port that the worktree's server has.
func TestTheConfigurationForClaudeDesktopIsTheSeeds(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	port := *w.keep(freePort(t)).running("main")["main"].MCP.Port
	var got string
	eventually(t, "the address of the server", func() bool {
		got, _ = w.config("claude-desktop", "--http")
		return strings.Contains(got, fmt.Sprint(port))
	})
	want := fmt.Sprintf(`{"mcpServers":{"gantry":{"type":"http","url":"http://localhost:%d/mcp"}}}`, port)
	if !sameJSON(t, []byte(got), []byte(want)) {
		t.Errorf("got %s, want %s", got, want)
	}
	// What it says is right: the server answers there.
	if list, err := post(fmt.Sprintf("http://localhost:%d/mcp", port), "tools/list", nil); err != nil || !strings.Contains(list, "read_file") {
		t.Errorf("%s %v", list, err)
	}
}

func TestAConfigurationIsWrittenBesideWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	file := filepath.Join(w.root, ".vscode", "mcp.json")
	write(t, file, "{\n\t// mine\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"},\n\t},\n}\n")
	out, _ := w.config("vscode", "--write")
	if !strings.Contains(out, file+".bak") {
		t.Errorf("it says %q", out)
	}
	got := read(t, file)
	for _, want := range []string{"\t// mine\n", "\t\t\"other\": {\"command\": \"x\"},\n\t\t\"gantry\": {\n", `"type": "stdio"`} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if again, _ := w.config("vscode", "--write"); !strings.Contains(again, "is as it should be") || read(t, file) != got {
		t.Errorf("a second time: %q", again)
	}
	_, errs := w.config("vscode", "--write", "--http")
	if got := read(t, file); !strings.Contains(errs, "GANTRY_TOKEN") || !strings.Contains(got, "Bearer ${env:GANTRY_TOKEN}") || strings.Contains(got, "stdio") {
		t.Errorf("over HTTP: %s %s", got, errs)
	}
	write(t, file, "{broken")
	if code, _, errs := w.gantry("config", "vscode", "--write"); code == 0 || !strings.Contains(errs, "CONFIG_INVALID") || read(t, file) != "{broken" {
		t.Errorf("a broken file: %d %s %s", code, errs, read(t, file))
	}
	if code, _, errs := w.gantry("config", "emacs"); code == 0 || !strings.Contains(errs, "claude-code, claude-desktop, codex, cursor, gemini, vscode") {
		t.Errorf("%d %s", code, errs)
	}
}

// What is printed starts a server: the command and arguments of the entry, as they are.
func TestWhatAClientIsToldStartsTheServer(t *testing.T) {
	t.Parallel()
	w := newTree(t)
	out, _ := w.config("claude-desktop")
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(out), &file); err != nil {
		t.Fatal(err)
	}
	entry := file.Servers["gantry"]
	cmd := exec.Command(entry.Command, append(entry.Args, "--state-dir", w.state)...)
	cmd.Env, cmd.Dir = w.env, "/"
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"src/main.go"},"_meta":{"io.modelcontextprotocol/protocolVersion":"` +
		stateless + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}` + "\n")
	answer, err := cmd.Output()
	if err != nil || !strings.Contains(string(answer), "package main") {
		t.Errorf("%s %v", answer, err)
	}
}

func TestTheRealCodexReadsItsConfiguration(t *testing.T) {
	t.Parallel()
	codex := codextest.Program(t)
	w := newTree(t)
	home := filepath.Join(w.home, "codex")
	file := filepath.Join(home, "config.toml")
	write(t, file, "# mine\nmodel = \"gpt-5\"\n\n[mcp_servers.other]\ncommand = \"true\"\n")
	w.env = append(w.env, "CODEX_HOME="+home)
	listed := func() string {
		t.Helper()
		cmd := exec.Command(codex, "mcp", "list", "--json")
		cmd.Env = append(w.env, "PATH="+filepath.Dir(codex)+":/usr/local/bin:/usr/bin:/bin")
		cmd.Dir = w.root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("codex mcp list: %v: %s", err, out)
		}
		return string(out)
	}
	w.config("codex", "--write")
	if got := listed(); !strings.Contains(got, `"gantry"`) || !strings.Contains(got, `"other"`) || !strings.Contains(got, `"mcp"`) || !strings.Contains(got, "stdio") {
		t.Errorf("over stdio: %s", got)
	}
	w.config("codex", "--write", "--http")
	if got := listed(); !strings.Contains(got, "http://127.0.0.1:8787/mcp") || !strings.Contains(got, "GANTRY_TOKEN") || !strings.Contains(got, `"other"`) {
		t.Errorf("over HTTP: %s", got)
	}
	if got := read(t, file); !strings.HasPrefix(got, "# mine\nmodel = \"gpt-5\"\n") {
		t.Errorf("the rest is lost: %s", got)
	}
}
