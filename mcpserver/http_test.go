package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/tokens"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

const (
	older = "2025-11-25"
	newer = "2026-07-28"

	tokenA = "aaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbb"
	viewer = "vvvvvvvvvvvvvvvv"
)

// web is a rig that is served at a URL, on two paths.
type web struct {
	*rig
	url  string
	path *mcpserver.HTTP
}

// overHTTP serves the rig on /mcp, and a server without tools on /other.
func overHTTP(t *testing.T, o mcpserver.HTTPOptions, change func(*mcpserver.Options)) *web {
	t.Helper()
	w := &web{rig: newRig(t, change)}
	known, err := tokens.Open(tokens.Options{Text: "a:" + tokenA + ";b:" + tokenB + ";viewer:" + viewer + ":read"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := httpfront.New(httpfront.Options{Tokens: known, Hosts: []string{l.Addr().String()}})
	w.path = mcpserver.NewHTTP(w.server, o)
	other := mcpserver.NewHTTP(mcpserver.New(mcpserver.Options{Name: "other", Guard: w.guard}), o)
	mux := http.NewServeMux()
	mux.Handle("/mcp", front.Wrap(w.path, ""))
	mux.Handle("/other", front.Wrap(other, ""))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(httpfront.Listen(l)) }()
	w.url = "http://" + l.Addr().String()
	t.Cleanup(func() {
		done, cancel := context.WithCancel(context.Background())
		cancel() // nothing is worth waiting for
		w.path.Shutdown(done)
		other.Shutdown(done)
		_ = srv.Close()
		<-served
	})
	return w
}

// request returns a POST of the era: method and params, and lines "Name: value" that are set,
// or left out when they are "-Name".
func (w *web) request(ctx context.Context, path, era, body string, lines ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	h := r.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("Authorization", "Bearer "+tokenA)
	if era == newer {
		h.Set("MCP-Protocol-Version", newer)
		var m struct {
			Method string
			Params struct{ Name string }
		}
		_ = json.Unmarshal([]byte(body), &m)
		h.Set("Mcp-Method", m.Method)
		if m.Params.Name != "" {
			h.Set("Mcp-Name", m.Params.Name)
		}
	}
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Set(name, value)
		} else {
			h.Del(strings.TrimPrefix(line, "-"))
		}
	}
	return r
}

// reply is what came back: the status and the last message of the body, event or not.
type reply struct {
	status int
	header http.Header
	text   string
	id     json.RawMessage
	result json.RawMessage
	code   int
	says   string
	fault  string
}

func (w *web) do(r *http.Request) reply {
	w.t.Helper()
	res, err := client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.read(res, raw)
}

// client returns a client that keeps no connection, and so no goroutine.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
}

func (w *web) read(res *http.Response, raw []byte) reply {
	w.t.Helper()
	out := reply{status: res.StatusCode, header: res.Header, text: string(raw)}
	body := raw
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		_, body, _ = bytes.Cut(raw, []byte("data: "))
		for bytes.Contains(body, []byte("\n\ndata: ")) || bytes.Contains(body, []byte("\n\nevent: ")) {
			_, body, _ = bytes.Cut(body, []byte("data: "))
		}
	}
	var m struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  struct {
			Code    int
			Message string
			Data    struct {
				Code string `json:"error_code"`
			}
		}
	}
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Unmarshal(body, &m); err != nil {
			w.t.Fatalf("%d: %v in %q", res.StatusCode, err, raw)
		}
	}
	out.id, out.result, out.code, out.says, out.fault = m.ID, m.Result, m.Error.Code, m.Error.Message, m.Error.Data.Code
	return out
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`

// callOf is a call of a tool in the new era.
func callOf(name string) string {
	return `{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"` + name + `","arguments":{},` + meta + `}}`
}

func (w *web) modern(body string, lines ...string) reply {
	w.t.Helper()
	return w.do(w.request(w.t.Context(), "/mcp", newer, body, lines...))
}

// session opens one and returns its id.
func (w *web) session(lines ...string) string {
	w.t.Helper()
	r := w.do(w.request(w.t.Context(), "/mcp", older,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, lines...))
	id := r.header.Get("Mcp-Session-Id")
	if r.status != http.StatusOK || id == "" {
		w.t.Fatalf("initialize: %d %s", r.status, r.text)
	}
	if done := w.do(w.request(w.t.Context(), "/mcp", older, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(lines, "Mcp-Session-Id: "+id)...)); done.status != http.StatusAccepted {
		w.t.Fatalf("initialized: %d %s", done.status, done.text)
	}
	return id
}

// in sends a request in a session.
func (w *web) in(session, path, body string, lines ...string) reply {
	w.t.Helper()
	return w.do(w.request(w.t.Context(), path, older, body, append([]string{"MCP-Protocol-Version: " + older, "Mcp-Session-Id: " + session}, lines...)...))
}

// dial connects the SDK's client.
func (w *web) dial(era string) *mcp.ClientSession {
	w.t.Helper()
	withToken := &http.Client{Transport: bearer{&http.Transport{DisableKeepAlives: true}}}
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { w.progress <- req.Params },
		ResourceUpdatedHandler:      func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { w.updated <- req.Params.URI },
	})
	s, err := c.Connect(w.t.Context(), &mcp.StreamableClientTransport{Endpoint: w.url + "/mcp", HTTPClient: withToken, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+tokenA)
	return b.RoundTripper.RoundTrip(r)
}

func TestOneURLServesBothEras(t *testing.T) {
	for _, era := range []string{older, newer} {
		t.Run(era, func(t *testing.T) {
			w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
			w.handle = func(_ context.Context, c *guard.Call) (tool.Result, error) {
				if c.Caller.Token != "a" || fmt.Sprint(c.Caller.Scopes) != "[read run]" || c.Start.Transport != "tcp" || c.Start.RequestID == "" {
					t.Errorf("the call is of %+v, %+v", c.Caller, c.Start)
				}
				if (c.Caller.Session != "") != (era == older) || c.Start.ProtocolVersion != era {
					t.Errorf("session %q, revision %q", c.Caller.Session, c.Start.ProtocolVersion)
				}
				c.Tell("half way")
				return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
			}
			s := w.dial(era)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 4 {
				t.Fatalf("%v, %v", list, err)
			}
			p := &mcp.CallToolParams{Name: "act_on"}
			p.SetProgressToken("p")
			res, err := s.CallTool(t.Context(), p)
			if err != nil || res.IsError {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := <-w.progress; got.Message != "half way" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestASessionIsOfItsPathAndItsToken(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	id := w.session()
	const list = `{"jsonrpc":"2.0","id":5,"method":"tools/list"}`
	if r := w.in(id, "/mcp", list); r.status != http.StatusOK || r.result == nil {
		t.Fatalf("%d %s", r.status, r.text)
	}
	unknown := w.in("nonsense", "/mcp", list)
	for name, r := range map[string]reply{
		"another path":  w.in(id, "/other", list),
		"another token": w.in(id, "/mcp", list, "Authorization: Bearer "+tokenB),
	} {
		if r.status != http.StatusNotFound || r.text != unknown.text || strings.Contains(r.text, id) {
			t.Errorf("%s: %d %s; an unknown session is %d %s", name, r.status, r.text, unknown.status, unknown.text)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		r := w.request(t.Context(), "/mcp", older, "", "Mcp-Session-Id: "+id, "Authorization: Bearer "+tokenB)
		r.Method, r.Body = method, nil
		r.ContentLength = 0
		if got := w.do(r); got.status != http.StatusNotFound {
			t.Errorf("%s by another token: %d %s", method, got.status, got.text)
		}
	}
	if r := w.in(id, "/mcp", list); r.status != http.StatusOK {
		t.Errorf("the session is gone: %d %s", r.status, r.text)
	}
}

func TestSessionsAreCounted(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{MaxSessions: 2}, nil)
	first := w.session()
	w.session()
	r := w.do(w.request(t.Context(), "/mcp", older, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	if r.status != http.StatusServiceUnavailable || r.fault != "SERVER_BUSY" || string(r.id) != "1" {
		t.Errorf("%d %s", r.status, r.text)
	}
	gone := w.request(t.Context(), "/mcp", older, "", "Mcp-Session-Id: "+first)
	gone.Method, gone.Body, gone.ContentLength = http.MethodDelete, nil, 0
	if r := w.do(gone); r.status != http.StatusNoContent {
		t.Errorf("%d %s", r.status, r.text)
	}
	w.session()
}

func TestWhatIsNotFoundKeepsItsData(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	modern := w.modern(callOf("nothing"))
	if modern.status != http.StatusNotFound || modern.code != -32601 || modern.fault != "UNKNOWN_TOOL" || string(modern.id) != `"q"` {
		t.Errorf("%d %s", modern.status, modern.text)
	}
	old := w.in(w.session(), "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"nothing"}}`)
	if old.status != http.StatusOK || old.code != -32601 || old.fault != "UNKNOWN_TOOL" {
		t.Errorf("%d %s", old.status, old.text)
	}
}

func TestAMissingScopeIsForbidden(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	old := w.session("Authorization: Bearer " + viewer)
	for name, r := range map[string]reply{
		"new era":          w.modern(callOf("act_on"), "Authorization: Bearer "+viewer),
		"of another style": w.modern(callOf("card"), "Authorization: Bearer "+viewer),
		"old era":          w.in(old, "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act_on"}}`, "Authorization: Bearer "+viewer),
	} {
		if r.status != http.StatusForbidden || r.fault != "AUTH_INSUFFICIENT_SCOPE" || r.header.Get("WWW-Authenticate") != `Bearer realm="gantry", error="insufficient_scope", scope="run"` {
			t.Errorf("%s: %d %v %s", name, r.status, r.header, r.text)
		}
	}
	if r := w.modern(callOf("look_at"), "Authorization: Bearer "+viewer); r.status != http.StatusOK || r.result == nil {
		t.Errorf("%d %s", r.status, r.text)
	}
	if n := len(w.spans.Ended()); n != 4 {
		t.Errorf("%d calls are recorded, want those that were refused too", n)
	}
}

func TestANameMayBeInBase64(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	encode := func(s string) string {
		return "Mcp-Name: =?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
	}
	if r := w.modern(callOf("look_at"), encode("look_at")); r.status != http.StatusOK || r.result == nil {
		t.Errorf("%d %s", r.status, r.text)
	}
	for _, line := range []string{encode("act_on"), "Mcp-Name: =?base64?!!?=", "Mcp-Name: act_on", "-Mcp-Name", "-Mcp-Method", "Mcp-Method: tools/list"} {
		if r := w.modern(callOf("look_at"), line); r.status != http.StatusBadRequest || r.code != mcp.CodeHeaderMismatch || strings.Contains(r.text, "look_at") {
			t.Errorf("%s: %d %s", line, r.status, r.text)
		}
	}
}

func TestRevisionsThatDoNotMatchAreRefused(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	const list = `{"jsonrpc":"2.0","id":"q","method":"tools/list","params":{` + meta + `}}`
	if r := w.modern(list); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.text)
	}
	if r := w.modern(list, "-MCP-Protocol-Version"); r.status != http.StatusBadRequest || r.code != mcp.CodeHeaderMismatch {
		t.Errorf("no header: %d %s", r.status, r.text)
	}
	if r := w.modern(list, "MCP-Protocol-Version: 2099-01-01"); r.status != http.StatusBadRequest || r.code != mcp.CodeHeaderMismatch {
		t.Errorf("a header that differs: %d %s", r.status, r.text)
	}
	future := strings.Replace(list, newer, "2099-01-01", 1)
	if r := w.modern(future, "MCP-Protocol-Version: 2099-01-01"); r.status != http.StatusBadRequest || r.code != mcp.CodeUnsupportedProtocolVersion || !strings.Contains(r.text, newer) || !strings.Contains(r.text, older) {
		t.Errorf("unknown in both: %d %s", r.status, r.text)
	}
	if r := w.modern(list, "Last-Event-ID: forged_7", "Mcp-Session-Id: forged"); r.status != http.StatusOK {
		t.Errorf("headers of the older era: %d %s", r.status, r.text)
	}
}

func TestAResultIsCompleteInTheNewerEra(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	if r := w.modern(callOf("look_at")); !strings.Contains(string(r.result), `"resultType":"complete"`) || !strings.Contains(string(r.result), `"structuredContent":{"ok":true}`) {
		t.Errorf("%s", r.text)
	}
	w.handle = func(context.Context, *guard.Call) (tool.Result, error) {
		return tool.Result{}, fault.New(fault.InvalidInput, "not so")
	}
	if r := w.modern(callOf("card")); !strings.Contains(string(r.result), `"resultType":"complete"`) || !strings.Contains(string(r.result), `"isError":true`) {
		t.Errorf("an error that is a result: %s", r.text)
	}
	if r := w.in(w.session(), "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"card"}}`); strings.Contains(string(r.result), "resultType") {
		t.Errorf("in the older era: %s", r.text)
	}
}

// What the SDK refuses by itself is refused in our form, and repeats nothing of the request.
func TestRefusalsAreJSONAndRepeatNothing(t *testing.T) {
	w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
	const hostile = "hostile-text-of-the-request"
	id := w.session()
	get := func(lines ...string) reply {
		r := w.request(t.Context(), "/mcp", older, "", lines...)
		r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		return w.do(r)
	}
	for name, c := range map[string]struct {
		reply  reply
		status int
		code   int
	}{
		"no JSON":                {w.modern(hostile), 400, -32700},
		"a batch":                {w.modern(`[{"jsonrpc":"2.0","id":1,"method":"` + hostile + `"}]`), 400, -32600},
		"nothing":                {w.modern(""), 400, -32700},
		"a member twice":         {w.modern(`{"jsonrpc":"2.0","id":1,"id":2,"method":"` + hostile + `"}`), 400, -32600},
		"an id that is none":     {w.modern(`{"jsonrpc":"2.0","id":1.5,"method":"` + hostile + `"}`), 400, -32600},
		"an id beyond exactness": {w.modern(`{"jsonrpc":"2.0","id":9007199254740993,"method":"` + hostile + `"}`), 400, -32600},
		"too deep":               {w.modern(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`), 400, -32600},
		"another type":           {w.modern(callOf("look_at"), "Content-Type: text/plain; charset="+hostile), 415, -32600},
		"a wrong Accept":         {w.modern(callOf("look_at"), "Accept: "+hostile), 400, -32600},
		"an unknown method":      {w.modern(`{"jsonrpc":"2.0","id":1,"method":"`+hostile+`","params":{`+meta+`}}`, "Mcp-Method: "+hostile), 404, -32601},
		"one of the old era":     {w.in(id, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+hostile+`"}`), 200, -32601},
		"an unknown session":     {w.in(hostile, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), 404, -32603},
		"an old revision":        {w.in(id, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "MCP-Protocol-Version: 1999-"+hostile), 400, -32600},
		"no session":             {get(), 400, -32600},
		"a forged Last-Event-ID": {get("Mcp-Session-Id: "+id, "Last-Event-ID: "+hostile), 400, -32600},
		"GET in the new era":     {get("MCP-Protocol-Version: " + newer), 405, -32603},
		"before initialize":      {w.do(w.request(t.Context(), "/mcp", older, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)), 200, -32600},
	} {
		if c.reply.status != c.status || c.reply.code != c.code || c.reply.says == "" || strings.Contains(c.reply.text, hostile) {
			t.Errorf("%s: %d %s", name, c.reply.status, c.reply.text)
		}
	}
	if r := w.in(id, "/mcp", `{"jsonrpc":"2.0","method":"notifications/of_somebody"}`); r.status != http.StatusAccepted || r.text != "" {
		t.Errorf("a notification that nobody knows: %d %s", r.status, r.text)
	}
	if r := w.modern(callOf("look_at")); r.status != http.StatusOK {
		t.Errorf("afterwards: %d %s", r.status, r.text)
	}
}

// Who leaves cancels the call, in both eras.
func TestLeavingCancelsTheCall(t *testing.T) {
	for _, era := range []string{older, newer} {
		t.Run(era, func(t *testing.T) {
			w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
			started, ended := make(chan struct{}), make(chan error, 1)
			w.handle = func(ctx context.Context, _ *guard.Call) (tool.Result, error) {
				close(started)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return tool.Result{}, ctx.Err()
			}
			ctx, leave := context.WithCancel(t.Context())
			var r *http.Request
			if era == newer {
				r = w.request(ctx, "/mcp", newer, callOf("act_on"))
			} else {
				r = w.request(ctx, "/mcp", older, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act_on"}}`, "Mcp-Session-Id: "+w.session())
			}
			go func() {
				<-started
				leave()
			}()
			if res, err := client().Do(r); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			if err := <-ended; err == nil {
				t.Error("the call was not cancelled")
			}
		})
	}
}

// lines reads a stream line by line.
func lines(t *testing.T, res *http.Response) func() string {
	in := bufio.NewScanner(res.Body)
	t.Cleanup(func() { _ = res.Body.Close() })
	return func() string {
		if !in.Scan() {
			return ""
		}
		return in.Text()
	}
}

func TestASilentStreamIsKeptAlive(t *testing.T) {
	for name, fails := range map[string]error{"that succeeds": nil, "that fails": fault.New(fault.RunNotFound, "there is no run")} {
		t.Run("a call "+name, func(t *testing.T) {
			w := overHTTP(t, mcpserver.HTTPOptions{KeepAlive: time.Millisecond}, nil)
			release := make(chan struct{})
			w.handle = func(context.Context, *guard.Call) (tool.Result, error) {
				<-release
				return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, fails
			}
			res, err := client().Do(w.request(t.Context(), "/mcp", newer, callOf("look_at")))
			if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%+v, %v", res, err)
			}
			next := lines(t, res)
			for range 3 {
				if got := next(); got != ": keep-alive" {
					t.Fatalf("%q", got)
				}
				next()
			}
			close(release)
			data := ""
			for data == "" {
				line := next()
				data, _ = strings.CutPrefix(line, "data: ")
				if data == line {
					data = ""
				}
			}
			if !strings.Contains(data, `"id":"q"`) || strings.Contains(data, `"RUN_NOT_FOUND"`) != (fails != nil) {
				t.Errorf("%s", data)
			}
		})
	}
	t.Run("a stream of a session", func(t *testing.T) {
		w := overHTTP(t, mcpserver.HTTPOptions{KeepAlive: time.Millisecond}, nil)
		r := w.request(t.Context(), "/mcp", older, "", "Mcp-Session-Id: "+w.session())
		r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		res, err := client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		next := lines(t, res)
		for next() != ": keep-alive" {
		}
	})
}

func TestChangesOfAResourceAreToldInBothEras(t *testing.T) {
	for _, era := range []string{older, newer} {
		t.Run(era, func(t *testing.T) {
			shelf := newShelf()
			w := overHTTP(t, mcpserver.HTTPOptions{}, func(o *mcpserver.Options) { o.Resources = shelf })
			s := w.dial(era)
			const uri = "resource://run/r_12345678/text.md"
			if era == older {
				if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			} else {
				listen(t, w, uri)
			}
			shelf.stream(uri) <- struct{}{}
			if got := <-w.updated; got != uri {
				t.Errorf("%s", got)
			}
			if by := shelf.by; len(by) != 1 || by[0] != "a" {
				t.Errorf("it is watched by %q", by)
			}
		})
	}
}

// listen opens a stream of subscriptions and reports what it tells of a resource.
func listen(t *testing.T, w *web, uri string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["` + uri + `"]},` + meta + `}}`
	res, err := client().Do(w.request(t.Context(), "/mcp", newer, body))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%+v, %v", res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	in := bufio.NewScanner(res.Body)
	for in.Scan() && !strings.Contains(in.Text(), "subscriptions/acknowledged") {
	}
	go func() {
		for in.Scan() {
			if strings.Contains(in.Text(), "notifications/resources/updated") {
				w.updated <- uri
			}
		}
	}()
}

func TestShutdownAnswersEveryCall(t *testing.T) {
	for name, handle := range map[string]func(release chan struct{}) func(context.Context, *guard.Call) (tool.Result, error){
		"one that ends in time": func(release chan struct{}) func(context.Context, *guard.Call) (tool.Result, error) {
			return func(context.Context, *guard.Call) (tool.Result, error) {
				<-release
				return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
			}
		},
		"one that stops when told": func(chan struct{}) func(context.Context, *guard.Call) (tool.Result, error) {
			return func(ctx context.Context, _ *guard.Call) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
		},
		"one that does not": func(release chan struct{}) func(context.Context, *guard.Call) (tool.Result, error) {
			return func(context.Context, *guard.Call) (tool.Result, error) {
				<-release
				return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
			}
		},
	} {
		for _, era := range []string{older, newer} {
			t.Run(name+", "+era, func(t *testing.T) {
				t.Parallel()
				w := overHTTP(t, mcpserver.HTTPOptions{}, nil)
				release, started := make(chan struct{}), make(chan struct{})
				inner := handle(release)
				w.handle = func(ctx context.Context, c *guard.Call) (tool.Result, error) {
					close(started)
					return inner(ctx, c)
				}
				r := w.request(t.Context(), "/mcp", newer, callOf("act_on"))
				if era == older {
					r = w.request(t.Context(), "/mcp", older, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act_on"}}`, "Mcp-Session-Id: "+w.session())
				}
				got := make(chan reply, 1)
				go func() { got <- w.do(r) }()
				<-started
				grace, over := context.WithCancel(context.Background())
				down := make(chan struct{})
				go func() { w.path.Shutdown(grace); close(down) }()
				if name == "one that ends in time" {
					close(release)
				} else {
					over()
				}
				answer := <-got
				if name == "one that does not" {
					close(release)
				}
				<-down
				over()
				if name == "one that ends in time" {
					if answer.result == nil {
						t.Errorf("%d %s", answer.status, answer.text)
					}
				} else if answer.fault != "SHUTTING_DOWN" {
					t.Errorf("%d %s", answer.status, answer.text)
				}
			})
		}
	}
}
