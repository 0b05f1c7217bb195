package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func names(t *testing.T, a answer) (out []string) {
	t.Helper()
	var list struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(a.Result, &list); err != nil {
		t.Fatalf("%v: %v", err, a.Error)
	}
	for _, tool := range list.Tools {
		out = append(out, tool.Name)
	}
	return out
}

// Every toolset has a path of its own, and each path a twin that only reads.
func TestEveryToolsetHasAPathAndATwinThatReads(t *testing.T) {
	t.Parallel()
	h := newWorld(t).serveHTTP("--toolsets", "launch,tasks")
	for path, want := range map[string]struct {
		server, has, hasNot string
	}{
		"/mcp":                  {"gantry", "launch_start_run task_start list_tasks", "read_file"},
		"/mcp/readonly":         {"gantry", "launch_get_status list_tasks", "launch_start_run task_start launch_cancel"},
		"/mcp/x/tasks":          {"dela-mcp", "task_start list_tasks", "launch_start_run"},
		"/mcp/x/tasks/readonly": {"dela-mcp", "list_tasks task_output", "task_start task_stop"},
		"/mcp/x/launch":         {"foss-launcher-mcp", "launch_start_run", "list_tasks"},
		"/mcp/x/worktree":       {"gantry-worktree", "read_file list_directory", "launch_start_run"},
	} {
		v := h.as(tokenOfAnn, path)
		a, status := v.request("tools/list", nil)
		if status != http.StatusOK {
			t.Errorf("%s: %d %v", path, status, a.Error)
			continue
		}
		if !strings.Contains(string(a.Result), `"name":"`+want.server+`"`) {
			t.Errorf("%s is not called %s: %.300s", path, want.server, a.Result)
		}
		got := names(t, a)
		for _, name := range strings.Fields(want.has) {
			if !slices.Contains(got, name) {
				t.Errorf("%s lacks %s: %v", path, name, got)
			}
		}
		for _, name := range strings.Fields(want.hasNot) {
			if slices.Contains(got, name) {
				t.Errorf("%s has %s", path, name)
			}
		}
	}
	for _, path := range []string{"/", "/mcp/", "/mcp/x", "/mcp/x/nothing", "/mcp//readonly", "/mcp/../mcp", "/debug/pprof", "/debug/vars", "/sse"} {
		if status, body := h.as(tokenOfAnn, "").get(path); status != http.StatusNotFound || strings.Contains(body, "pprof") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// What is in the file of hostile inputs, row by row, against the shipped program.
func TestTheFrontHoldsAgainstHostileRequests(t *testing.T) {
	t.Parallel()
	h := newWorld(t).serveHTTP("--toolsets", "tasks")
	const body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	good := []string{"Host: " + h.addr, "Authorization: Bearer " + tokenOfAnn, "Content-Type: application/json", "Accept: application/json, text/event-stream", "Connection: close"}
	ask := func(first string, replace ...string) string {
		lines := slices.Clone(good)
		for _, r := range replace {
			name, _, _ := strings.Cut(r, ":")
			lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") })
		}
		lines = append(lines, replace...)
		return h.raw(first + " HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\nContent-Length: " + "40" + "\r\n\r\n" + body)
	}
	const post = "POST /mcp/x/tasks"
	_, port, _ := strings.Cut(h.addr, ":")
	for name, c := range map[string]struct{ got, status string }{
		"H223 Origin":                  {ask(post, "Origin: https://evil.example"), "403"},
		"H225 Sec-Fetch-Site":          {ask(post, "Sec-Fetch-Site: cross-site"), "403"},
		"H227 Host, a suffix":          {ask(post, "Host: 127.0.0.1.evil.example:"+port), "403"},
		"H227 Host, localhost.evil":    {ask(post, "Host: localhost.evil.com"), "403"},
		"H227 Host, 0.0.0.0":           {ask(post, "Host: 0.0.0.0:"+port), "403"},
		"H227 Host, mapped":            {ask(post, "Host: [::ffff:7f00:1]:"+port), "403"},
		"H229 X-Forwarded-Host":        {ask(post, "Host: evil.example", "X-Forwarded-Host: "+h.addr), "403"},
		"H231 preflight":               {ask("OPTIONS /mcp/x/tasks", "Origin: https://evil.example", "Access-Control-Request-Method: POST"), "403"},
		"H233 Basic":                   {ask(post, "Authorization: Basic dTpw"), "401"},
		"H233 two tokens":              {ask(post, "Authorization: Bearer "+tokenOfAnn, "authorization: Bearer "+tokenOfBob), "400"},
		"H233 token in the query":      {ask(post+"?token="+tokenOfAnn+"&access_token="+tokenOfAnn, "Authorization: none"), "401"},
		"H245 both lengths":            {ask(post, "Transfer-Encoding: chunked"), "400"},
		"H245 xchunked":                {ask(post, "Transfer-Encoding: xchunked"), "400"},
		"H245 a folded line":           {ask(post, "X-A: b\r\n c"), "400"},
		"H245 a lone LF":               {ask(post, "X-A: b\nX-B: c"), "400"},
		"H245 a NUL":                   {ask(post, "X-A: \x00"), "400"},
		"H251 pprof":                   {ask("GET /debug/pprof"), "404"},
		"H251 vars":                    {ask("GET /debug/vars"), "404"},
		"a wrong token":                {ask(post, "Authorization: Bearer "+tokenOfNoone), "401"},
		"an oversize body":             {ask(post, "Content-Length: 5000000"), "400"},
		"two Mcp-Session-Id":           {ask(post, "Mcp-Session-Id: a", "mcp-session-id: b"), "400"},
		"CONNECT":                      {ask("CONNECT " + h.addr), "404"},
		"a full URL, of somebody else": {ask("POST http://evil.example/mcp/x/tasks"), "403"},
	} {
		head, answer, _ := strings.Cut(c.got, "\r\n\r\n")
		if !strings.HasPrefix(c.got, "HTTP/1.1 "+c.status) || strings.Contains(strings.ToLower(head), "access-control-allow") || !strings.Contains(answer, `"jsonrpc":"2.0"`) {
			t.Errorf("%s: %.500s", name, c.got)
		}
		if strings.Contains(c.got, "evil") || strings.Contains(c.got, tokenOfAnn) {
			t.Errorf("%s is repeated: %s", name, c.got)
		}
	}
	if got := ask(post, "Authorization: bearer "+tokenOfAnn); !strings.HasPrefix(got, "HTTP/1.1 200") { // H233: a scheme in lower case is fine
		t.Errorf("%.300s", got)
	}
	oversize := h.raw(post + " HTTP/1.1\r\nHost: " + h.addr + "\r\nContent-Length: 5000000\r\n\r\n")
	if !strings.HasPrefix(oversize, "HTTP/1.1 413") {
		t.Errorf("%.300s", oversize)
	}
	if log := h.err.String(); strings.Contains(log, tokenOfAnn) || strings.Contains(log, "evil.example") {
		t.Errorf("the log repeats it: %s", log)
	}
}

// A head that does not come is waited for no longer than five seconds.
func TestASlowHeadIsCutOff(t *testing.T) {
	t.Parallel()
	h := newWorld(t).serveHTTP("--toolsets", "tasks")
	if got := h.raw("POST /mcp HTTP/1.1\r\nHost: "); strings.Contains(got, " 200 ") {
		t.Errorf("%s", got)
	}
}

func TestItRefusesToStartWhereStrangersCouldGetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		env   string
		flags []string
		says  string
	}{
		"no tokens":                 {"", []string{"--addr", "0.0.0.0:0"}, "no tokens"},
		"no tokens, all interfaces": {"", []string{"--addr", ":0"}, "no tokens"},
		"no TLS":                    {tokensOfAll, []string{"--addr", "0.0.0.0:0"}, "no TLS"},
		"no tokens behind a proxy":  {"", []string{"--addr", "0.0.0.0:0", "--insecure-no-tls"}, "no tokens"},
		"an empty token":            {"GANTRY_TOKENS=ann:", []string{"--addr", "127.0.0.1:0"}, "at least 16 characters"},
		"a short token":             {"GANTRY_TOKENS=ann:hunter2", []string{"--addr", "127.0.0.1:0"}, "at least 16 characters"},
		"half a certificate":        {tokensOfAll, []string{"--addr", "127.0.0.1:0", "--tls-cert", "x.pem"}, "belong together"},
		"a certificate that is not": {tokensOfAll, []string{"--addr", "127.0.0.1:0", "--tls-cert", "x.pem", "--tls-key", "y.pem"}, "cannot be used"},
		"no file of tokens":         {"", []string{"--addr", "127.0.0.1:0", "--tokens", "/nonexistent"}, "not there"},
		"nothing to serve":          {"", []string{"--addr", "127.0.0.1"}, "host:port"},
	} {
		h := w.startHTTP(append(slices.Clone(w.env), c.env), c.flags...)
		code, said := h.fails(), h.err.String()
		if code != 2 || !strings.Contains(said, "CONFIG_INVALID") || !strings.Contains(said, c.says) || !strings.Contains(said, "next: ") && c.says != "belong together" && c.says != "cannot be used" && c.says != "host:port" {
			t.Errorf("%s: %d %s", name, code, said)
		}
		if strings.Contains(said, "hunter2") {
			t.Errorf("%s: the token is repeated: %s", name, said)
		}
	}
}

// Without tokens the files are served, on loopback, and nothing that starts programs.
func TestWithoutTokensNothingThatStartsProgramsIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.startHTTP(w.env, "--addr", "127.0.0.1:0")
	h.ready()
	if a, status := h.as("", "/mcp/x/worktree").request("tools/list", nil); status != http.StatusOK || !slices.Contains(names(t, a), "read_file") {
		t.Errorf("%d %v", status, a.Error)
	}
	for _, path := range []string{"/mcp", "/mcp/readonly", "/mcp/x/launch", "/mcp/x/tasks", "/mcp/x/tasks/readonly", "/mcp/x/board"} {
		if status, body := h.as("", "").get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if log := h.err.String(); !strings.Contains(log, "/mcp/x/launch") || !strings.Contains(log, "without tokens") {
		t.Errorf("the log does not say what is not offered: %s", log)
	}
}

func TestHealthNeedsNoToken(t *testing.T) {
	t.Parallel()
	h := newWorld(t).serveHTTP("--toolsets", "tasks", "--metrics-addr", "127.0.0.1:0")
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := h.as("", "").get(path); status != http.StatusOK || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for token, want := range map[string]int{"": http.StatusUnauthorized, tokenOfNoone: http.StatusUnauthorized, tokenOfEve: http.StatusOK} {
		if status, body := h.as(token, "").get("/metrics"); status != want {
			t.Errorf("/metrics: %d %.200s, want %d", status, body, want)
		}
	}
}
