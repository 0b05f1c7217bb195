package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The revisions of the protocol that are spoken here: one with a handshake, one
// without.
const (
	stateful  = "2025-11-25"
	stateless = "2026-07-28"
)

// patience is how long anything may take before a test gives up. Nothing waits for
// it when all is well.
const patience = 60 * time.Second

// peer is a client of one `gantry mcp`: lines out, lines in, no library between.
// It holds every line of the server's against the promises that hold for all of
// them: standard output is JSON-RPC, standard error is JSON.
type peer struct {
	t   *testing.T
	era string
	cmd *exec.Cmd
	in  io.WriteCloser
	err *lockedBuffer

	caps map[string]any // what the client can do, in the revision without a handshake

	mu      sync.Mutex
	next    int
	waiting map[string]chan answer
	updated chan string // URIs of notifications/resources/updated
	told    chan string // messages of notifications/progress
	acked   chan struct{}
	strays  []string // answers that nobody waits for
	read    chan struct{}
	ended   bool
}

// answer is a response to a request.
type answer struct {
	Result json.RawMessage `json:"result"`
	Error  *refusal        `json:"error"`
}

// refusal is a JSON-RPC error with gantry's data.
type refusal struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Data    refusalData `json:"data"`
}

type refusalData struct {
	Code      string          `json:"error_code"`
	Retryable bool            `json:"retryable"`
	Hint      string          `json:"hint"`
	Details   json.RawMessage `json:"details"`
}

func (r *refusal) String() string {
	return fmt.Sprintf("%d %s: %s %s", r.Code, r.Data.Code, r.Message, r.Data.Details)
}

// serve starts `gantry mcp` in the world and, for the older revision, shakes hands.
func (w *world) serve(era string, flags ...string) *peer {
	w.t.Helper()
	p := &peer{
		t: w.t, era: era, err: new(lockedBuffer), waiting: map[string]chan answer{}, updated: make(chan string, 1000), told: make(chan string, 1000),
		acked: make(chan struct{}, 1), read: make(chan struct{}),
	}
	p.cmd = exec.Command(binary, append([]string{"mcp", "--root", w.root, "--state-dir", w.state}, flags...)...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = w.env, w.home, p.err
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go p.receive(out)
	w.t.Cleanup(func() {
		if !p.ended {
			p.end()
		}
		p.stopWorkers()
	})
	if era == stateful {
		p.handshake()
	}
	return p
}

func (p *peer) handshake() {
	p.t.Helper()
	a := p.request("initialize", map[string]any{
		"protocolVersion": stateful, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "peer", "version": "1"},
	})
	if a.Error != nil || !strings.Contains(string(a.Result), stateful) {
		p.t.Fatalf("initialize: %s %+v", a.Result, a.Error)
	}
	p.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// receive reads standard output to its end.
func (p *peer) receive(out io.Reader) {
	defer close(p.read)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				p.t.Errorf("standard output ends within a line: %.200q", line)
			}
			return
		}
		p.deliver(line)
	}
}

func (p *peer) deliver(line []byte) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  struct {
			URI     string `json:"uri"`
			Message string `json:"message"`
		} `json:"params"`
		answer
	}
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || (m.Method == "") == (m.Result == nil && m.Error == nil) {
		p.t.Errorf("a line of standard output is no message: %v: %.300q", err, line)
		return
	}
	switch {
	case m.Method == "notifications/resources/updated":
		p.updated <- m.Params.URI
	case m.Method == "notifications/progress":
		p.told <- m.Params.Message
	case m.Method == "notifications/subscriptions/acknowledged":
		p.acked <- struct{}{}
	case m.Method != "":
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		if c, ok := p.waiting[string(m.ID)]; ok {
			delete(p.waiting, string(m.ID))
			c <- m.answer
			return
		}
		p.strays = append(p.strays, string(line))
	}
}

// line writes one line.
func (p *peer) line(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.t.Fatalf("write: %v; the server said %s", err, p.err)
	}
}

// expect registers for the answer with an id, as it is written.
func (p *peer) expect(id string) <-chan answer {
	c := make(chan answer, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[id] = c
	return c
}

// begin sends a request and returns where its answer will be.
func (p *peer) begin(method string, params map[string]any) <-chan answer {
	p.t.Helper()
	p.mu.Lock()
	p.next++
	id := fmt.Sprint(p.next)
	p.mu.Unlock()
	if p.era == stateless {
		if params == nil {
			params = map[string]any{}
		}
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": stateless, "io.modelcontextprotocol/clientCapabilities": p.capabilities(),
			"io.modelcontextprotocol/clientInfo": map[string]string{"name": "peer", "version": "1"},
		}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	if params == nil {
		raw = []byte("{}")
	}
	c := p.expect(id)
	p.line(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + string(raw) + `}`)
	return c
}

func (p *peer) capabilities() map[string]any {
	if p.caps == nil {
		return map[string]any{}
	}
	return p.caps
}

// wait waits for an answer.
func (p *peer) wait(c <-chan answer) answer {
	p.t.Helper()
	select {
	case a := <-c:
		return a
	case <-time.After(patience):
		p.t.Fatalf("no answer within %s; the server said %s", patience, p.err)
	}
	return answer{}
}

func (p *peer) request(method string, params map[string]any) answer {
	p.t.Helper()
	return p.wait(p.begin(method, params))
}

// args are the arguments of a tool. Members that are text are text; raw JSON goes
// in as json.RawMessage.
type args map[string]any

func (p *peer) beginCall(tool string, arguments any) <-chan answer {
	p.t.Helper()
	return p.begin("tools/call", map[string]any{"name": tool, "arguments": arguments})
}

func (p *peer) call(tool string, arguments any) answer {
	p.t.Helper()
	return p.wait(p.beginCall(tool, arguments))
}

// must calls a tool, which must succeed, and returns its structured result. The
// text block holds the same, or a summary that is not JSON.
func (p *peer) must(tool string, arguments any) json.RawMessage {
	p.t.Helper()
	return p.success(tool, p.call(tool, arguments))
}

func (p *peer) success(tool string, a answer) json.RawMessage {
	p.t.Helper()
	if a.Error != nil {
		p.t.Fatalf("%s: %s", tool, a.Error)
	}
	var r struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Type, Text string }
	}
	if err := json.Unmarshal(a.Result, &r); err != nil || r.IsError || r.Structured == nil || len(r.Content) != 1 {
		p.t.Fatalf("%s: %v: %s", tool, err, a.Result)
	}
	if text := r.Content[0].Text; json.Valid([]byte(text)) && !sameJSON(p.t, []byte(text), r.Structured) {
		p.t.Errorf("%s: the text block and the structured result differ", tool)
	}
	return r.Structured
}

// refused calls a tool, which must be refused with the code.
func (p *peer) refused(tool string, arguments any, code string) refusal {
	p.t.Helper()
	a := p.call(tool, arguments)
	if a.Error == nil {
		p.t.Fatalf("%s is not refused with %s: %.300s", tool, code, a.Result)
	}
	if a.Error.Data.Code != code {
		p.t.Fatalf("%s is refused with %s, want %s", tool, a.Error, code)
	}
	if a.Error.Data.Hint == "" {
		p.t.Errorf("%s: %s has no hint", tool, code)
	}
	return *a.Error
}

// end closes standard input and returns the exit code once the program is gone.
func (p *peer) end() int {
	p.t.Helper()
	p.in.Close()
	return p.exit()
}

// signal sends a signal and returns the exit code once the program is gone.
func (p *peer) signal(s syscall.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	return p.exit()
}

func (p *peer) exit() int {
	p.t.Helper()
	p.ended = true
	late := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.read // before Wait, which closes the pipe
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	for _, line := range p.err.lines() {
		if !json.Valid([]byte(line)) {
			p.t.Errorf("a line of standard error is no JSON: %.200q", line)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.strays {
		p.t.Errorf("nobody asked for %.200s", line)
	}
	return p.cmd.ProcessState.ExitCode()
}

// workers returns the workers that the log tells of.
func (p *peer) workers() (pids []int) {
	for _, line := range p.err.lines() {
		var l struct {
			Msg string `json:"msg"`
			PID int    `json:"pid"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.PID > 0 && strings.Contains(l.Msg, "worker") {
			pids = append(pids, l.PID)
		}
	}
	return pids
}

// stopWorkers ends the workers that the server started and waits until they are gone.
func (p *peer) stopWorkers() {
	for _, pid := range p.workers() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		eventually(p.t, "the worker ends on SIGTERM", func() bool { return !alive(pid) })
	}
}

// eventually waits for a fact that nothing tells of.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	within(t, patience, what, fact)
}

func within(t *testing.T, patience time.Duration, what string, fact func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !fact() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// lockedBuffer may be read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *lockedBuffer) lines() []string {
	text := strings.TrimSuffix(b.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// sameJSON compares two texts by what they mean.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return bytes.Equal(canonical(t, a), canonical(t, b))
}

func canonical(t *testing.T, raw []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// field reads a member of a result by its path, such as "paused.reason".
func field(t *testing.T, raw json.RawMessage, path string) string {
	t.Helper()
	var at any
	if err := json.Unmarshal(raw, &at); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = m[name]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// gantry runs a command line in the world and returns its exit code and what it said.
func (w *world) gantry(words ...string) (code int, out, errOut string) {
	w.t.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(binary, append(words, "--root", w.root, "--state-dir", w.state)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = w.env, w.home, &o, &e
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), o.String(), e.String()
}
