package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The tokens of the tests. Tokens of the environment, so that no file is needed.
const (
	tokenOfAnn   = "ann-0123456789abcdef"
	tokenOfBob   = "bob-0123456789abcdef"
	tokenOfEve   = "eve-0123456789abcdef" // she may only read
	tokensOfAll  = "GANTRY_TOKENS=ann:" + tokenOfAnn + ";bob:" + tokenOfBob + ";eve:" + tokenOfEve + ":read"
	tokenOfNoone = "who-0123456789abcdef"
)

// host is one `gantry serve`.
type host struct {
	*peer        // its process; nothing is said to it
	w     *world //
	addr  string // host:port
	web   *http.Client
}

// serveHTTP starts `gantry serve` in the world on a free port, with the tokens of the tests,
// and waits until it serves.
func (w *world) serveHTTP(flags ...string) *host {
	w.t.Helper()
	h := w.startHTTP(append(slices.Clone(w.env), tokensOfAll), append([]string{"--addr", "127.0.0.1:0"}, flags...)...)
	h.ready()
	return h
}

// startHTTP starts it with an environment, and waits for nothing.
func (w *world) startHTTP(env []string, flags ...string) *host {
	w.t.Helper()
	h := &host{w: w, peer: &peer{t: w.t, era: stateless, err: new(lockedBuffer), read: make(chan struct{})}}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	h.web = &http.Client{Transport: transport, Timeout: patience}
	close(h.read)
	said := new(lockedBuffer)
	h.cmd = exec.Command(binary, append([]string{"serve", "--root", w.root, "--state-dir", w.state}, flags...)...)
	h.cmd.Env, h.cmd.Dir, h.cmd.Stdout, h.cmd.Stderr = env, w.home, said, h.err
	if err := h.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		transport.CloseIdleConnections()
		if !h.ended {
			h.stop()
		}
		h.stopWorkers()
		if said.String() != "" {
			w.t.Errorf("standard output is for the protocol, and this is none: %s", said)
		}
	})
	return h
}

// ready waits for the line of the log that says where it serves.
func (h *host) ready() {
	h.t.Helper()
	eventually(h.t, "it serves", func() bool {
		for _, line := range h.err.lines() {
			var l struct{ Msg, Addr string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "serving over HTTP" {
				h.addr = l.Addr
			}
		}
		return h.addr != "" || h.gone()
	})
	if h.addr == "" {
		h.t.Fatalf("it does not serve: %s", h.err)
	}
}

// gone reports whether the process has said on standard error why it ends.
func (h *host) gone() bool { return strings.Contains(h.err.String(), "gantry: ") }

// stop ends the server as an operator does and returns its exit code.
func (h *host) stop() int {
	h.t.Helper()
	h.web.CloseIdleConnections()
	return h.signal(syscall.SIGTERM)
}

// visit is a caller: a token, on a path.
type visit struct {
	*host
	token, path string
}

func (h *host) as(token, path string) visit { return visit{h, token, path} }

// post sends a message of the era without sessions.
func (v visit) post(ctx context.Context, method string, params map[string]any) *http.Request {
	v.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": stateless, "io.modelcontextprotocol/clientCapabilities": v.capabilities(),
		"io.modelcontextprotocol/clientInfo": map[string]string{"name": "visitor", "version": "1"},
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		v.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.addr+v.path, bytes.NewReader(raw))
	if err != nil {
		v.t.Fatal(err)
	}
	h := r.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("MCP-Protocol-Version", stateless)
	h.Set("Mcp-Method", method)
	for _, key := range []string{"name", "uri", "taskId"} {
		if name, ok := params[key].(string); ok {
			h.Set("Mcp-Name", name)
		}
	}
	if v.token != "" {
		h.Set("Authorization", "Bearer "+v.token)
	}
	return r
}

// send sends a request and returns its answer and status.
func (v visit) send(r *http.Request) (answer, int, error) {
	res, err := v.web.Do(r)
	if err != nil {
		return answer{}, 0, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, res.StatusCode, err
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		if raw, err = lastEvent(raw); err != nil {
			return answer{}, res.StatusCode, err
		}
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return answer{}, res.StatusCode, fmt.Errorf("%w in %.300q", err, raw)
	}
	return a, res.StatusCode, nil
}

// lastEvent returns the message of the last event of a stream.
func lastEvent(stream []byte) (data []byte, err error) {
	in := bufio.NewScanner(bytes.NewReader(stream))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		if d, ok := bytes.CutPrefix(in.Bytes(), []byte("data: ")); ok {
			data = bytes.Clone(d)
		}
	}
	return data, in.Err()
}

// request sends a message and returns its answer.
func (v visit) request(method string, params map[string]any) (answer, int) {
	v.t.Helper()
	a, status, err := v.send(v.post(v.t.Context(), method, params))
	if err != nil {
		v.t.Fatalf("%s: %v; the server said %s", method, err, v.err)
	}
	return a, status
}

func (v visit) call(tool string, arguments any) answer {
	v.t.Helper()
	a, _ := v.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	return a
}

// must calls a tool, which must succeed, and returns its structured result.
func (v visit) must(tool string, arguments any) json.RawMessage {
	v.t.Helper()
	return v.success(tool, v.call(tool, arguments))
}

// refused calls a tool, which must be refused under a code.
func (v visit) refused(tool string, arguments any, code string) {
	v.t.Helper()
	if a := v.call(tool, arguments); a.Error == nil || a.Error.Data.Code != code {
		v.t.Errorf("%s: %s %v, want %s", tool, a.Result, a.Error, code)
	}
}

// get reads a path.
func (v visit) get(path string) (status int, body string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, "http://"+v.addr+path, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if v.token != "" {
		r.Header.Set("Authorization", "Bearer "+v.token)
	}
	res, err := v.web.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// raw sends bytes as they are and returns all that comes until the server closes.
func (h *host) raw(text string) string {
	h.t.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		h.t.Fatal(err)
	}
	raw, _ := io.ReadAll(c)
	return string(raw)
}

// sample returns the sum of a metric's samples in which every word occurs.
func (v visit) sample(metric string, words ...string) (sum float64) {
	v.t.Helper()
	status, text := v.get("/metrics")
	if status != http.StatusOK {
		v.t.Fatalf("/metrics: %d %s", status, text)
	}
next:
	for _, line := range strings.Split(text, "\n") {
		name, _, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		if name != metric {
			continue
		}
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		var value float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' '):], &value); err != nil {
			v.t.Fatalf("%s: %v", line, err)
		}
		sum += value
	}
	return sum
}

// fails waits for the end of a server that does not start, and returns its exit code.
func (h *host) fails() int {
	h.t.Helper()
	h.ended = true
	late := time.AfterFunc(patience, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	_ = h.cmd.Wait() // the code says it
	return h.cmd.ProcessState.ExitCode()
}
