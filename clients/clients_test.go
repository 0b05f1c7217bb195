package clients_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/clients"
	"github.com/gantry-run/gantry/internal/fault"
)

var (
	started = clients.Server{Name: "gantry", Command: "/usr/bin/gantry", Args: []string{"mcp", "--root", "/p"}}
	remote  = clients.Server{Name: "gantry", URL: "http://localhost:3000/mcp"}
	guarded = clients.Server{Name: "gantry", URL: "http://127.0.0.1:8787/mcp", Token: "GANTRY_TOKEN"}
)

func client(t *testing.T, name string) clients.Client {
	t.Helper()
	c, err := clients.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func merge(t *testing.T, name, file string, s clients.Server) string {
	t.Helper()
	out, err := client(t, name).Merge([]byte(file), s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out)
}

func TestEveryClientHasItsFormOverStdioAndHTTP(t *testing.T) {
	for name, want := range map[string][3]string{
		"claude-code": {
			`{"mcpServers":{"gantry":{"type":"stdio","command":"/usr/bin/gantry","args":["mcp","--root","/p"]}}}`,
			`{"mcpServers":{"gantry":{"type":"http","url":"http://localhost:3000/mcp"}}}`,
			`{"mcpServers":{"gantry":{"type":"http","url":"http://127.0.0.1:8787/mcp","headers":{"Authorization":"Bearer ${GANTRY_TOKEN}"}}}}`,
		},
		"claude-desktop": {
			`{"mcpServers":{"gantry":{"command":"/usr/bin/gantry","args":["mcp","--root","/p"]}}}`,
			`{"mcpServers":{"gantry":{"type":"http","url":"http://localhost:3000/mcp"}}}`,
			`{"mcpServers":{"gantry":{"type":"http","url":"http://127.0.0.1:8787/mcp","headers":{"Authorization":"Bearer ${GANTRY_TOKEN}"}}}}`,
		},
		"codex": {
			"[mcp_servers.gantry]\ncommand = \"/usr/bin/gantry\"\nargs = [\"mcp\", \"--root\", \"/p\"]\n",
			"[mcp_servers.gantry]\nurl = \"http://localhost:3000/mcp\"\n",
			"[mcp_servers.gantry]\nurl = \"http://127.0.0.1:8787/mcp\"\nbearer_token_env_var = \"GANTRY_TOKEN\"\n",
		},
		"cursor": {
			`{"mcpServers":{"gantry":{"command":"/usr/bin/gantry","args":["mcp","--root","/p"]}}}`,
			`{"mcpServers":{"gantry":{"url":"http://localhost:3000/mcp"}}}`,
			`{"mcpServers":{"gantry":{"url":"http://127.0.0.1:8787/mcp","headers":{"Authorization":"Bearer ${env:GANTRY_TOKEN}"}}}}`,
		},
		"gemini": {
			`{"mcpServers":{"gantry":{"command":"/usr/bin/gantry","args":["mcp","--root","/p"]}}}`,
			`{"mcpServers":{"gantry":{"httpUrl":"http://localhost:3000/mcp"}}}`,
			`{"mcpServers":{"gantry":{"httpUrl":"http://127.0.0.1:8787/mcp","headers":{"Authorization":"Bearer ${GANTRY_TOKEN}"}}}}`,
		},
		"vscode": {
			`{"servers":{"gantry":{"type":"stdio","command":"/usr/bin/gantry","args":["mcp","--root","/p"]}}}`,
			`{"servers":{"gantry":{"type":"http","url":"http://localhost:3000/mcp"}}}`,
			`{"servers":{"gantry":{"type":"http","url":"http://127.0.0.1:8787/mcp","headers":{"Authorization":"Bearer ${env:GANTRY_TOKEN}"}}}}`,
		},
	} {
		for i, s := range []clients.Server{started, remote, guarded} {
			got := merge(t, name, "", s)
			var compact bytes.Buffer
			if json.Compact(&compact, []byte(got)) == nil {
				got = compact.String()
			}
			if got != want[i] {
				t.Errorf("%s: got %s\nwant %s", name, got, want[i])
			}
		}
	}
	if len(clients.All()) != 6 {
		t.Errorf("%d clients", len(clients.All()))
	}
}

func TestJSONKeepsEverythingElse(t *testing.T) {
	for what, c := range map[string]struct{ before, after string }{
		"comments and another server": {`{
	// my servers
	"mcpServers": {
		"other": {"command": "x"}, // keep me
		/* and me */
	},
	"theme": "dark"
}
`, `{
	// my servers
	"mcpServers": {
		"other": {"command": "x"}, // keep me
		/* and me */
		"gantry": {
			"url": "http://localhost:3000/mcp"
		}
	},
	"theme": "dark"
}
`},
		"a comment behind the last one": {`{
  "mcpServers": {
    "other": {"command": "x"} // keep me
  }
}`, `{
  "mcpServers": {
    "other": {"command": "x"}, // keep me
    "gantry": {
      "url": "http://localhost:3000/mcp"
    }
  }
}`},
		"an entry of ours": {`{"mcpServers": {"gantry": {"command": "old", "args": [], "env": {"A": "b"}, "disabled": true}, "z": {}}}`,
			`{"mcpServers": {"gantry": {
  "url": "http://localhost:3000/mcp",
  "env": {
    "A": "b"
  },
  "disabled": true
}, "z": {}}}`},
		"no servers yet": {`{"a": 1}`, `{"a": 1,
  "mcpServers": {
    "gantry": {
      "url": "http://localhost:3000/mcp"
    }
  }
}`},
		"no members yet": {"{\n    \"mcpServers\": {}\n}\n", `{
    "mcpServers": {
        "gantry": {
            "url": "http://localhost:3000/mcp"
        }
    }
}
`},
	} {
		got := merge(t, "cursor", c.before, remote)
		if diff := cmp.Diff(c.after, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if again := merge(t, "cursor", got, remote); again != got {
			t.Errorf("%s: a second time changes it: %s", what, cmp.Diff(got, again))
		}
	}
}

func TestTOMLKeepsEverythingElse(t *testing.T) {
	const keys = "command = \"/usr/bin/gantry\"\nargs = [\"mcp\", \"--root\", \"/p\"]\n"
	for what, c := range map[string]struct{ before, after string }{
		"comments and another server": {`# mine
model = "x" # the best
notes = """
[mcp_servers.gantry]
command = "not a table"
"""

[mcp_servers.other]
command = "y"
`, `# mine
model = "x" # the best
notes = """
[mcp_servers.gantry]
command = "not a table"
"""

[mcp_servers.other]
command = "y"

[mcp_servers.gantry]
` + keys},
		"an entry of ours": {`[mcp_servers.gantry] # here
# how long it may take
startup_timeout_sec = 20
url = "http://old"
bearer_token_env_var = "X"
args = [
  "a", # first
  "]",
]

[mcp_servers.gantry.env]
A = "b"

[tui]
theme = 'dark'
`, `[mcp_servers.gantry] # here
` + keys + `# how long it may take
startup_timeout_sec = 20

[mcp_servers.gantry.env]
A = "b"

[tui]
theme = 'dark'
`},
		"a header at the end":    {"[mcp_servers.gantry]", "[mcp_servers.gantry]\n" + keys},
		"a quoted header":        {"[mcp_servers.\"gantry\"]\ncommand = 'x'\n", "[mcp_servers.\"gantry\"]\n" + keys},
		"no newline at the end":  {"a = 1", "a = 1\n\n[mcp_servers.gantry]\n" + keys},
		"a table of all servers": {"[mcp_servers]\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n", "[mcp_servers]\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n[mcp_servers.gantry]\n" + keys},
	} {
		got := merge(t, "codex", c.before, started)
		if diff := cmp.Diff(c.after, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if again := merge(t, "codex", got, started); again != got {
			t.Errorf("%s: a second time changes it: %s", what, cmp.Diff(got, again))
		}
	}
}

func TestAFileThatCannotBeAddedToIsLeftAlone(t *testing.T) {
	for _, c := range []struct{ client, file string }{
		{"cursor", `{"mcpServers": []}`}, {"cursor", `[]`}, {"cursor", `{"a": `}, {"cursor", `{"mcpServers": {"gantry"}}`}, {"vscode", `not json`},
		{"codex", `mcp_servers = {other = {command = "x"}}`}, {"codex", "[mcp_servers]\ngantry = {command = \"x\"}\n"}, {"codex", "mcp_servers.gantry.command = 'x'\n"}, {"codex", `a = `},
	} {
		if out, err := client(t, c.client).Merge([]byte(c.file), started); !fault.Is(err, fault.ConfigInvalid) || out != nil {
			t.Errorf("%s %s: %s %v", c.client, c.file, out, err)
		}
	}
	if _, err := clients.Named("emacs"); !fault.Is(err, fault.InvalidInput) {
		t.Error(err)
	}
}

func TestAFileIsReplacedAsAWholeAndTheOldOneKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "below", "config.json")
	if backup, changed, err := clients.Write(path, []byte("one")); err != nil || !changed || backup != "" {
		t.Fatalf("a new file: %q %v %v", backup, changed, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	backup, changed, err := clients.Write(link, []byte("two"))
	if err != nil || !changed || filepath.Base(backup) != "config.json.bak" {
		t.Fatalf("%q %v %v", backup, changed, err)
	}
	for file, want := range map[string]string{path: "two", backup: "one"} {
		raw, err := os.ReadFile(file)
		info, _ := os.Stat(file)
		if err != nil || string(raw) != want || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %q %v %v", file, raw, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is no link any more")
	}
	if _, changed, err := clients.Write(path, []byte("two")); err != nil || changed {
		t.Errorf("the same again: %v %v", changed, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestFilesAreWhereTheClientsLookForThem(t *testing.T) {
	p := clients.Place{Home: "/h", Config: "/h/.config", Project: "/p", OS: "linux"}
	var got []string
	for _, c := range clients.All() {
		got = append(got, c.Path(p))
	}
	want := "/p/.mcp.json /h/.config/Claude/claude_desktop_config.json /h/.codex/config.toml /p/.cursor/mcp.json /h/.gemini/settings.json /p/.vscode/mcp.json"
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	p.OS, p.Codex = "darwin", "/c"
	if got := client(t, "claude-desktop").Path(p) + " " + client(t, "codex").Path(p); got != "/h/Library/Application Support/Claude/claude_desktop_config.json /c/config.toml" {
		t.Error(got)
	}
}
