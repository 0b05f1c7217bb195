package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// scrapeToken is what the tests of metrics show to a server.
const scrapeToken = "5c3a9e21f0b74d6688aa01be77d2c4f9"

// watched is a `gantry serve` with metrics on an address of their own.
type watched struct {
	t             *testing.T
	cmd           *exec.Cmd
	log           *lockedBuffer
	base, metrics string // URLs
}

// watch starts gantry serve in the world, with a token of every scope.
func (w *world) watch(environ []string, flags ...string) *watched {
	w.t.Helper()
	tokens := "GANTRY_TOKENS=everything:" + scrapeToken + ":read,run,admin\nwriter:7d1e5b0c9f384a2ab6c5d4e3f2a1b0c9:run\n"
	s := &watched{t: w.t, log: new(lockedBuffer)}
	s.cmd = exec.Command(binary, append([]string{"serve", "--root", w.root, "--state-dir", w.state, "--addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0",
		"--rate-limit=0", "--toolsets=launch,tasks"}, flags...)...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = append(append(w.env[:len(w.env):len(w.env)], tokens), environ...), w.home, s.log
	if err := s.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(s.stop)
	eventually(w.t, "the server says where it listens", func() bool {
		s.base, s.metrics = s.said("serving over HTTP"), s.said("serving metrics")
		return s.base != "" && s.metrics != ""
	})
	return s
}

// said returns the address that a line of the log tells, as a URL.
func (s *watched) said(msg string) string {
	for _, line := range s.log.lines() {
		var l struct{ Msg, Addr string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == msg && l.Addr != "" {
			return "http://" + l.Addr
		}
	}
	return ""
}

func (s *watched) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("serve: %v\n%s", err, s.log)
	}
	for _, line := range s.log.lines() {
		var l struct {
			Msg string
			PID int
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.PID > 0 && strings.Contains(l.Msg, "worker") {
			_ = syscall.Kill(l.PID, syscall.SIGTERM)
		}
	}
}

// send sends a request with the token and returns the answer's status, header and body.
func (s *watched) send(method, url, token, session, body string) (int, http.Header, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", stateful)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	raw, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, a.Header, string(raw)
}

// caller is a session over HTTP. It is used by one goroutine.
type caller struct {
	s       *watched
	session string
}

func (s *watched) connect() *caller {
	s.t.Helper()
	c := &caller{s: s}
	_, header, body := s.send("POST", s.base+"/mcp", scrapeToken, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+stateful+
		`","capabilities":{},"clientInfo":{"name":"caller","version":"1"}}}`)
	if c.session = header.Get("Mcp-Session-Id"); c.session == "" {
		s.t.Fatalf("no session: %s", body)
	}
	s.send("POST", s.base+"/mcp", scrapeToken, c.session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// call calls a tool and returns the answer's text, a result or an error.
func (c *caller) call(tool string, arguments any) string {
	c.s.t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		c.s.t.Fatal(err)
	}
	status, _, body := c.s.send("POST", c.s.base+"/mcp", scrapeToken, c.session, string(raw))
	if status != http.StatusOK {
		c.s.t.Fatalf("%s: %d %s", tool, status, body)
	}
	return body
}

func (c *caller) close() {
	c.s.t.Helper()
	c.s.send("DELETE", c.s.base+"/mcp", scrapeToken, c.session, "")
}

// scrape returns the samples by name and labels.
func (s *watched) scrape() map[string]float64 {
	s.t.Helper()
	status, _, body := s.send("GET", s.metrics+"/metrics", "", "", "")
	if status != http.StatusOK {
		s.t.Fatalf("/metrics: %d %s", status, body)
	}
	out := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader([]byte(body)))
	for lines.Scan() {
		line := lines.Text()
		at := strings.LastIndexByte(line, ' ')
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			s.t.Fatalf("%q: %v", line, err)
		}
		out[line[:at]] = v
	}
	return out
}

var labelOf = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// sum adds up the samples of a name, by what their labels, named in order, say.
func sum(samples map[string]float64, name string, labels ...string) map[string]int {
	out := map[string]int{}
	for series, v := range samples {
		if head, _, _ := strings.Cut(series, "{"); head != name {
			continue
		}
		has := map[string]string{}
		for _, m := range labelOf.FindAllStringSubmatch(series, -1) {
			has[m[1]] = m[2]
		}
		var key []string
		for _, l := range labels {
			key = append(key, has[l])
		}
		out[strings.Join(key, " ")] += int(v)
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
	return out
}
