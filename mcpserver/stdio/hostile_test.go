package stdio

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The rows of the catalogue of hostile inputs that reach this transport, by
// their ids: what is answered, and that the session lives.
func TestHostileLineIsAnsweredAndTheSessionLives(t *testing.T) {
	const idRule = "invalid request: id must be a string, or an integer of 64 bits"
	deep := func(open, shut string) string {
		return strings.Repeat(open, 10_000) + "1" + strings.Repeat(shut, 10_000)
	}
	tests := []struct {
		name, in string
		want     []string
	}{
		{"H001 not JSON", "hello\n", []string{refused("null", -32700, "parse error: invalid JSON at byte 0")}},
		{"H003 batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]` + "\n",
			[]string{refused("null", -32600, "batching not supported: send one message a line")}},
		{"H003 empty batch", "[]\n", []string{refused("null", -32600, "batching not supported: send one message a line")}},
		{"H003 broken batch", "[{\n", []string{refused("null", -32700, "parse error: invalid JSON at byte 2")}},
		{"H005 string", `"str"` + "\n", []string{refused("null", -32600, "invalid request: a message is a JSON object")}},
		{"H007 wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n", []string{refused("1", -32600, `invalid request: jsonrpc must be "2.0"`)}},
		{"H007 no version", `{"id":1,"method":"ping"}` + "\n", []string{refused("1", -32600, `invalid request: jsonrpc must be "2.0"`)}},
		{"H009 id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is an array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is a boolean", `{"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H009 id is long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H011 id beyond float64", `{"jsonrpc":"2.0","id":1e400,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H011 id beyond int64", `{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}` + "\n", []string{refused("null", -32600, idRule)}},
		{"H013 empty method", `{"jsonrpc":"2.0","id":7,"method":""}` + "\n", []string{refused("7", -32600, "invalid request: method must be a string that is not empty")}},
		{"H013 no method", `{"jsonrpc":"2.0","id":7}` + "\n", []string{refused("7", -32600, "invalid request: method must be a string that is not empty")}},
		{"H013 method is a number", `{"jsonrpc":"2.0","id":7,"method":1}` + "\n", []string{refused("7", -32600, "invalid request: method must be a string that is not empty")}},
		{"H015 a name that folds", `{"jsonrpc":"2.0","id":1,"method":"tools/call","paramſ":{"name":"echo","arguments":{}}}` + "\n",
			[]string{refused("1", -32600, `invalid request: unknown member "paramſ"`)}},
		{"H015 upper case", `{"jsonrpc":"2.0","id":1,"method":"ping","Params":{}}` + "\n", []string{refused("1", -32600, `invalid request: unknown member "Params"`)}},
		{"H017 duplicate method", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"echo","arguments":{}}}` + "\n",
			[]string{refused("1", -32600, `invalid request: duplicate key "method" at byte 40`)}},
		{"H017 duplicate by escape", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/list"}` + "\n",
			[]string{refused("1", -32600, `invalid request: duplicate key "method" at byte 40`)}},
		{"H017 duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}` + "\n", []string{refused("null", -32600, `invalid request: duplicate key "id" at byte 24`)}},
		{"H017 duplicate argument, id last", `{"params":{"name":"echo","name":"x"},"jsonrpc":"2.0","method":"tools/call","id":1}` + "\n",
			[]string{refused("1", -32600, `invalid request: duplicate key "name" at byte 25`)}},
		{"H019 deep arrays", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + deep("[", "]") + "}}\n",
			[]string{refused("1", -32600, "invalid request: nested too deep at byte 116")}},
		{"H021 deep _meta", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":` + deep(`{"a":`, "}") + "}}\n",
			[]string{refused("1", -32600, "invalid request: nested too deep at byte 368")}},
		{"H023 invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"list_tasks\",\"arguments\":{\"runner\":\"\xff\xfe\xc3(\"}}}\n",
			[]string{refused("1", -32700, "parse error: invalid UTF-8 at byte 99")}},
		{"H023 invalid UTF-8 in the id", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}\n", []string{refused("null", -32700, "parse error: invalid UTF-8 at byte 23")}},
		{"H023 lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\ud83d"}}` + "\n", []string{refused("1", -32700, "parse error: invalid UTF-8 at byte 55")}},
		{"H025 control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"a\x01\"}}\n",
			[]string{refused("null", -32700, "parse error: invalid JSON at byte 56")}},
		{"H027 Content-Length", "Content-Length: 40\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n",
			[]string{refused("null", -32700, "parse error: invalid JSON at byte 0"), `{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"H029 1 MiB of spaces", strings.Repeat(" ", 1<<20) + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"H029 spaces above the limit", strings.Repeat(" ", DefaultMaxLine+1) + "\n", []string{refused("null", -32600, "invalid request: a line is longer than 4194304 bytes")}},
		{"H035 malformed cancellation", cancelled(`{"$ne":1}`) + "\n", nil},
		{"H035 cancellation without id", `{"jsonrpc":"2.0","method":"notifications/cancelled"}` + "\n", nil},
		{"H035 cancellation with list params", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}` + "\n",
			[]string{refused("null", -32602, "invalid params: params must be an object")}},
		{"H039 malformed traceparent", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"00-zzzz-…"}}}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"H039 long traceparent", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"` + strings.Repeat("0", 5<<10) + `"}}}` + "\n",
			[]string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"H039 64 tracestate members", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"tracestate":"` + strings.Repeat("a=1,", 64) + `"}}}` + "\n",
			[]string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"params are a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}` + "\n", []string{refused("1", -32602, "invalid params: params must be an object")}},
		{"params are null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"request with a result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}` + "\n", []string{refused("1", -32600, "invalid request: a request has no result and no error")}},
		{"escaped member names", `{"\u006asonrpc":"2\u002e0","\u0069d":1,"method":"pin\u0067"}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"answers to no call", `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}` + "\n", nil},
		{"malformed answers", `{"jsonrpc":"2.0","id":null,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}` + "\n" + `{"id":1,"result":{}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"error":"x"}` + "\n" + `{"jsonrpc":"2.0","id":1,"error":null}` + "\n", nil},
		{"blank lines and CRLF", "\n\r\n  \t\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\n", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{"params that do not fit the method", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"secret":1}}}` + "\n",
			[]string{refused("1", -32602, "handling 'tools/call': invalid params: the params do not fit the method")}},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}` + "\n", []string{refused("1", -32601, `method not found: "no/such"`)}},
		{"an error without a code", callTool("1", "fail", "") + "\n", []string{refused("1", -32603, "internal error")}},
		{"initialize twice", strings.Replace(initialize, `"init"`, "1", 1) + "\n", []string{refused("1", -32600, `invalid request: "initialize" twice in one session`)}},
		{"id at the end of int64", `{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}`}},
		{"id with escapes", `{"jsonrpc":"2.0","id":"\u0061\n<","method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":"\u0061\n<","result":{}}`}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			serve(t, nil, func(s *session) {
				s.handshake()
				s.raw(tc.in)
				s.want(tc.want...)
				s.send(ping)
				s.want(pong)
			})
		})
	}
}

func TestByteOrderMarkIsStripped(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.raw("\xef\xbb\xbf" + ping + "\n")
		s.want(pong)
	})
}

func TestLongLineIsSkippedToItsEnd(t *testing.T) {
	serve(t, func(tr *Transport) { tr.MaxLine = len(ping) }, func(s *session) {
		s.raw(ping + "\r\n")
		s.want(pong)
		s.raw(ping + " \n" + strings.Repeat("x", 200<<10) + "\n" + ping + "\n")
		s.want(refused("null", -32600, "invalid request: a line is longer than 46 bytes"),
			refused("null", -32600, "invalid request: a line is longer than 46 bytes"), pong)
		s.raw(strings.Repeat("x", 200<<10))
		s.in.Close()
		s.want(refused("null", -32600, "invalid request: a line is longer than 46 bytes"))
	})
}

func TestH031InputEndsWhileACallRuns(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.handshake()
		s.send(callTool("1", "hold", "a"))
		start := time.Now()
		s.in.Close()
		<-s.tr.Done()
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("the session ended after %v, want at most 5 s", took)
		}
		s.want(shutDown("1"))
		if s.held["a"] == nil {
			t.Error("the handler was not told to stop")
		}
	})
}

func TestH033FloodRunsBoundedAndIsAnswered(t *testing.T) {
	const calls, limit = 10_000, 8
	serve(t, func(tr *Transport) { tr.MaxInFlight = limit }, func(s *session) {
		s.handshake()
		before := runtime.NumGoroutine()
		go func() {
			for i := range calls {
				fmt.Fprintln(s.in, callTool(fmt.Sprint(i), "hold", "all"))
			}
		}()
		synctest.Wait()
		if grown := runtime.NumGoroutine() - before; grown > 4*limit {
			t.Errorf("%d goroutines more while %d calls wait", grown, calls)
		}
		if s.now != limit {
			t.Errorf("%d calls run, want %d", s.now, limit)
		}
		s.release("all")
		if got := len(s.out.take()); got != calls {
			t.Errorf("%d answers, want %d", got, calls)
		}
		if s.most > limit {
			t.Errorf("%d calls ran at once, want at most %d", s.most, limit)
		}
	})
}

func TestH037CallBeforeInitializeHasACode(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.send(callTool("1", "echo", "x"))
		s.want(refused("1", -32600, `invalid request: "tools/call" before initialize`))
		s.handshake()
		s.send(callTool("1", "echo", "x"))
		s.want(result("1", "x"))
	})
}

func TestStatelessProtocolNeedsNoInitialize(t *testing.T) {
	serve(t, nil, func(s *session) {
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"arg":"x"},` + stateless + `}}`)
		got := strings.Join(s.out.take(), "\n")
		if !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"text":"x"`) {
			t.Errorf("a call of protocol 2026-07-28 was answered %s", got)
		}
		s.send(`{"jsonrpc":"2.0","id":2,"method":"ping","params":{` + stateless + `}}`)
		s.want(refused("2", -32601, `method not found: "ping"`))
	})
}
