package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// malformed is a line that is no request, and how it is answered: code 0 is no answer.
type malformed struct {
	name, line string
	id         string // of the answer
	code       int
}

func malformedLines() []malformed {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	tool := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"launch_list_runs","arguments":` + arguments + `}}`
	}
	return []malformed{
		{"not JSON", `hello`, "null", -32700},
		{"half a message", `{"jsonrpc":"2.0","id":"x"`, "null", -32700},
		{"a header", `Content-Length: 40`, "null", -32700},
		{"a batch", `[{"jsonrpc":"2.0","id":"x","method":"ping"}]`, "null", -32600},
		{"an empty batch", `[]`, "null", -32600},
		{"a string", `"x"`, "null", -32600},
		{"another version", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"x"`, -32600},
		{"no version", `{"id":"x","method":"ping"}`, `"x"`, -32600},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"id a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "null", -32600},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", -32600},
		{"id beyond int64", `{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}`, "null", -32600},
		{"id beyond float", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, "null", -32600},
		{"no method", `{"jsonrpc":"2.0","id":"x","method":""}`, `"x"`, -32600},
		{"unknown method", `{"jsonrpc":"2.0","id":"x","method":"no/such"}`, `"x"`, -32601},
		{"a name that folds", `{"jsonrpc":"2.0","id":"x","method":"tools/call","paramſ":{}}`, `"x"`, -32600},
		{"a key twice", `{"jsonrpc":"2.0","id":"x","method":"ping","method":"tools/call"}`, `"x"`, -32600},
		{"an argument twice", tool(`{"limit":1,"limit":2}`), `"x"`, -32600},
		{"an argument twice by escape", tool(`{"limit":1,"l\u0069mit":2}`), `"x"`, -32600},
		{"too deep", `{"jsonrpc":"2.0","id":"x","method":"ping","params":{"x":` + deep + `}}`, `"x"`, -32600},
		{"too deep arguments", tool(`{"filter":` + deep + `}`), `"x"`, -32600},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"x\":\"\xff\xfe\"}}", `"x"`, -32700},
		{"half a surrogate", `{"jsonrpc":"2.0","id":"x","method":"ping","params":{"x":"\ud83d"}}`, `"x"`, -32700},
		{"a control character", "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"x\":\"\x01\"}}", "null", -32700},
		{"above 4 MiB", tool(`{"cursor":"` + strings.Repeat("a", 5<<20) + `"}`), "", -32600},
		{"params a list", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[1]}`, `"x"`, -32602},
		{"no tool name", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{}}`, `"x"`, 0xbad},
		{"a tool name that is no text", `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":{}}}`, `"x"`, -32602},
		{"an empty line", ``, "", 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", 0},
		{"a malformed cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"$ne":1}}}`, "", 0},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/no_such"}`, "", 0},
	}
}

// Each is answered as the protocol says, and the next valid call works. All go into
// one session, so that none leaves anything behind for those after it.
func TestMalformedLinesAreAnsweredAndTheNextCallWorks(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.serve(era, "--rate-limit=0", "--verbose")
			for _, m := range malformedLines() {
				id := m.id
				if m.name == "above 4 MiB" {
					id = `"x"`
				}
				byID, byNull := p.expect(id), p.expect("null")
				p.line(m.line)
				works := p.beginCall("launch_list_runs", args{"limit": 1})
				if m.code != 0 {
					var a answer
					select {
					case a = <-byID:
					case a = <-byNull:
					}
					switch {
					case a.Error == nil:
						t.Errorf("%s is accepted: %.200s", m.name, a.Result)
					case m.code == 0xbad && a.Error.Code <= -32600 && a.Error.Code >= -32602: // any of the three says it
					case a.Error.Code != m.code:
						t.Errorf("%s is answered with %s, want %d", m.name, a.Error, m.code)
					}
				}
				p.success("launch_list_runs", p.wait(works))
			}
			if code := p.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestByteOrderMarkAndTraceContextDoNotMatter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("none")
	c := p.expect("1")
	p.line("\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if a := p.wait(c); a.Error != nil {
		t.Fatalf("a byte order mark: %s", a.Error)
	}
	p.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for i, parent := range []string{"00-zzzz-x", strings.Repeat("0", 5<<10), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"} {
		id := fmt.Sprint(i + 2)
		c := p.expect(id)
		p.line(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"launch_list_runs","arguments":{},"_meta":{"traceparent":"` + parent + `"}}}`)
		p.success("launch_list_runs", p.wait(c))
	}
	p.end()
	if !strings.Contains(p.err.String(), "0af7651916cd43dd8448eb211c80319c") {
		t.Error("the log does not carry the caller's trace")
	}
}

func TestSecondRequestWithAnIDInFlightIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, let := w.holdGit()
	w.rewrite("https://github.com/acme/widget", "product")
	p := w.serve(stateful)
	first := p.expect("7")
	start := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"launch_start_run_from_github_repo_url","arguments":{"github_repo_url":"https://github.com/acme/widget"}}}`
	p.line(start) // fetches before it answers
	reached()
	second := p.expect("null") // the id is the first one's
	p.line(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	if a := p.wait(second); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("the second request is answered with %s %s", a.Error, a.Result)
	}
	let()
	p.success("launch_start_run_from_github_repo_url", p.wait(first))
}

// A call that its client cancels gets no answer and the session goes on.
func TestCancelledCallGetsNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached, _ := w.holdGit()
	w.rewrite("https://github.com/acme/widget", "product")
	p := w.serve(stateful)
	p.line(`{"jsonrpc":"2.0","id":"gone","method":"tools/call","params":{"name":"launch_start_run_from_github_repo_url","arguments":{"github_repo_url":"https://github.com/acme/widget"}}}`)
	reached()
	p.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}`)
	eventually(t, "the call has ended", func() bool {
		for _, r := range w.records() {
			var c struct{ Tool string }
			if json.Unmarshal(r.Context, &c) == nil && c.Tool == "launch_start_run_from_github_repo_url" && r.Status == "cancelled" {
				return true
			}
		}
		return false
	})
	if got := field(t, p.must("launch_list_runs", args{}), "runs"); got != "[]" {
		t.Errorf("the cancelled call started %s", got)
	}
	if code := p.end(); code != 0 { // a stray answer fails here
		t.Errorf("exit code %d", code)
	}
}
