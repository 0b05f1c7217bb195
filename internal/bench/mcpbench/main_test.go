package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// reply is a tiny MCP server: tool "echo" answers, "fail" sets isError, anything
// else is an unknown tool. It also sends one progress note per call when asked.
func reply(m *message, send func(any)) {
	if len(m.ID) == 0 {
		return
	}
	ok := func(v any) { send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": v}) }
	var p struct {
		Name string                     `json:"name"`
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	switch m.Method {
	case "initialize":
		ok(map[string]any{"protocolVersion": "2025-11-25", "serverInfo": map[string]string{"name": "fake"}, "capabilities": map[string]any{}})
	case "server/discover":
		if _, has := p.Meta["io.modelcontextprotocol/clientCapabilities"]; !has {
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32602, "message": "no _meta"}})
			return
		}
		ok(map[string]any{"resultType": "complete", "_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]string{"name": "fake"}}})
	case "tools/list":
		ok(map[string]any{"tools": []any{map[string]string{"name": "echo"}, map[string]string{"name": "fail"}}})
	case "tools/call":
		if tok, has := p.Meta["progressToken"]; has {
			send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": tok, "progress": 1}})
		}
		switch p.Name {
		case "echo":
			ok(map[string]any{"content": []any{map[string]string{"type": "text", "text": "hi"}}})
		case "fail":
			ok(map[string]any{"isError": true, "content": []any{}})
		default:
			send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32602, "message": "unknown tool"}})
		}
	default:
		send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("MCPBENCH_FAKE_SERVER") == "1" {
		w := bufio.NewWriter(os.Stdout)
		sc := bufio.NewScanner(os.Stdin)
		for sc.Scan() {
			var msg message
			if json.Unmarshal(sc.Bytes(), &msg) != nil {
				continue
			}
			if os.Getenv("MCPBENCH_DIE") != "" && msg.Method == "tools/call" {
				os.Exit(3)
			}
			reply(&msg, func(v any) {
				b, _ := json.Marshal(v)
				fmt.Fprintf(w, "%s\n", b)
			})
			w.Flush()
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func stdioConfig(t *testing.T, extra ...string) *config {
	t.Helper()
	argv := append([]string{"-n", "40", "-c", "4", "-warmup", "0", "-env", "MCPBENCH_FAKE_SERVER=1"}, extra...)
	cfg, err := parseFlags(append(argv, "--", os.Args[0]), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestStdioCalls(t *testing.T) {
	for _, tc := range []struct {
		tool           string
		rpc, toolErr   int64
		protocol, want string
	}{
		{"echo", 0, 0, "2025-11-25", "2025-11-25"},
		{"echo", 0, 0, "2026-07-28", "2026-07-28"},
		{"fail", 0, 40, "2025-11-25", "2025-11-25"},
		{"nope", 40, 0, "2025-11-25", "2025-11-25"},
	} {
		rep, err := run(context.Background(), stdioConfig(t, "-tool", tc.tool, "-protocol", tc.protocol))
		if err != nil {
			t.Fatalf("%s/%s: %v", tc.tool, tc.protocol, err)
		}
		if rep.Calls != 40 || rep.Errors.RPC != tc.rpc || rep.Errors.Tool != tc.toolErr || rep.Errors.Transport != 0 {
			t.Errorf("%s/%s: %+v", tc.tool, tc.protocol, rep)
		}
		if rep.Protocol != tc.want || rep.Tools != 2 || rep.Latency == nil || rep.PerSecond <= 0 || !strings.Contains(string(rep.Server), "fake") {
			t.Errorf("%s/%s: %+v", tc.tool, tc.protocol, rep)
		}
	}
}

func TestProgressIsCounted(t *testing.T) {
	rep, err := run(context.Background(), stdioConfig(t, "-tool", "echo", "-progress"))
	if err != nil {
		t.Fatal(err)
	}
	if rep.Progress != 40 {
		t.Errorf("progress notifications = %d, want 40", rep.Progress)
	}
}

func TestServerDeathIsATransportError(t *testing.T) {
	rep, err := run(context.Background(), stdioConfig(t, "-tool", "echo", "-env", "MCPBENCH_DIE=1", "-timeout", "5s"))
	if err != nil {
		t.Fatal(err)
	}
	if rep.Errors.Transport == 0 || rep.FirstError == "" {
		t.Errorf("want transport errors, got %+v", rep)
	}
}

func TestColdStart(t *testing.T) {
	rep, err := run(context.Background(), stdioConfig(t, "-cold", "3"))
	if err != nil {
		t.Fatal(err)
	}
	if rep.Calls != 3 || rep.ColdList == nil || rep.ColdList.Min < rep.ColdInit.Min {
		t.Errorf("%+v", rep)
	}
}

func TestHTTPCalls(t *testing.T) {
	for _, sse := range []bool{false, true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer tok" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			var m message
			if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			if m.Method == "initialize" {
				w.Header().Set("Mcp-Session-Id", "s1")
			} else if r.Header.Get("MCP-Protocol-Version") < probe.StatelessSince && r.Header.Get("Mcp-Session-Id") != "s1" {
				http.Error(w, "no session", http.StatusNotFound)
				return
			}
			if r.Header.Get("MCP-Protocol-Version") >= probe.StatelessSince && m.Method == "tools/call" && r.Header.Get("Mcp-Name") != "echo" {
				http.Error(w, "no Mcp-Name", http.StatusBadRequest)
				return
			}
			if len(m.ID) == 0 {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			if sse {
				w.Header().Set("Content-Type", "text/event-stream")
				reply(&m, func(v any) {
					b, _ := json.Marshal(v)
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", b)
				})
				return
			}
			w.Header().Set("Content-Type", "application/json")
			reply(&m, func(v any) {
				if b, _ := json.Marshal(v); !bytes.Contains(b, []byte("notifications/")) {
					_, _ = w.Write(b)
				}
			})
		}))
		for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
			cfg, err := parseFlags([]string{"-http", srv.URL, "-header", "Authorization: Bearer tok", "-tool", "echo", "-n", "30", "-c", "3", "-protocol", protocol, "-progress"}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := run(context.Background(), cfg)
			if err != nil {
				t.Fatalf("sse=%v %s: %v", sse, protocol, err)
			}
			if rep.Calls != 30 || rep.Errors.total() != 0 || rep.Transport != "http" {
				t.Errorf("sse=%v %s: %+v", sse, protocol, rep)
			}
			if want := map[bool]int64{true: 30, false: 0}[sse]; rep.Progress != want {
				t.Errorf("sse=%v %s: progress = %d, want %d", sse, protocol, rep.Progress, want)
			}
		}
		srv.Close()
	}
}

func TestFlagErrors(t *testing.T) {
	for _, argv := range [][]string{
		{},
		{"-http", "http://x", "--", "cmd"},
		{"-cold", "2", "-http", "http://x"},
		{"-c", "0", "--", "cmd"},
		{"-args", "{", "--", "cmd"},
		{"-args", "@/does/not/exist", "--", "cmd"},
	} {
		if _, err := parseFlags(argv, io.Discard); err == nil {
			t.Errorf("%v: no error", argv)
		}
	}
	if _, err := probe.HTTP("http://x", []string{"no-colon"}, 1); err == nil {
		t.Error("a bad header was accepted")
	}
}
