// Package codextest gives tests a model for the real Codex CLI: a server on the
// loopback interface that speaks as much of the Responses API as `codex exec` needs.
//
// The model does as it is told. Each line of a prompt that begins with a word below is
// one of its answers, in order; a prompt without any is answered with "done".
//
//	run: make test          call the shell tool
//	write: a.txt some text  call the shell tool so that a line of text is added to the file
//	patch: a.txt some text  call the apply_patch tool so that the file is created with the text
//	think: ...              a piece of reasoning, before the next answer
//	say: ...                a message
//	wait: name              hold the answer back until the test calls Open(name)
//	fail: 500               answer with an HTTP status
//	break:                  cut the answer off in the middle
//
// What comes next is read off the conversation that the CLI sends along, not remembered. So
// one server does for any number of sessions at once, in any number of processes, and does
// not mind a CLI that was killed and resumed.
//
// A session needs [Server.Config] as its configuration file (CODEX_HOME is its folder), and
// [Program] finds the CLI.
package codextest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Server is the model.
type Server struct {
	Config string // path of a config.toml that points at the server

	ended chan struct{} // the test is over
	mu    sync.Mutex
	gates map[string]chan struct{}
	asked []Request
}

// Request is one request of a CLI.
type Request struct {
	Model   string
	Effort  string   // of reasoning
	Prompts []string // all that the user said in the conversation; the last one is answered
	Step    int      // how many tools were called for the last prompt so far
	Outputs []string // what they answered
	Tools   []string // names of the tools that were offered; those of an MCP server as mcp__<server>__<tool>
}

// Program returns the path of the Codex CLI: GANTRY_CODEX, or codex in PATH. Without one
// the test is skipped, in CI it fails.
func Program(t testing.TB) string {
	t.Helper()
	name := os.Getenv("GANTRY_CODEX")
	if name == "" {
		name = "codex"
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("codex is not in PATH; .ci/run installs it")
		}
		t.Skip("the Codex CLI is not installed: npm i -g @openai/codex, or set GANTRY_CODEX")
	}
	return path
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{gates: map[string]chan struct{}{}, ended: make(chan struct{})}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.ended)
		web.CloseClientConnections()
		web.Close()
	})
	s.Config = filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(s.Config, fmt.Appendf(nil, config, web.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

const config = `model = "gpt-5.5"
model_provider = "loopback"
check_for_update_on_startup = false

[model_providers.loopback]
name = "loopback"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`

// Open lets the answers go on that wait for the name, now and later.
func (s *Server) Open(name string) {
	gate := s.gate(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-gate:
	default:
		close(gate)
	}
}

func (s *Server) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

// Requests returns all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.asked...)
}
