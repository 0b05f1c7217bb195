package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// session is a real server behind the transport, driven line by line. Tests run
// in a synctest bubble: settle means that nothing more happens by itself, and
// time passes only in sleep.
type session struct {
	t      *testing.T
	tr     *Transport
	in     *io.PipeWriter
	out    *sink
	server *mcp.ServerSession

	mu     sync.Mutex
	holds  map[string]chan struct{} // what the tool "hold" waits for
	held   map[string]error         // how its calls ended: nil, or the context's error
	now    int                      // calls of "hold" that run
	most   int
	header []string // what "echo" saw in the request's extra
}

// serve runs test with a session; change may set fields of the transport.
func serve(t *testing.T, change func(*Transport), test func(*session)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		s := &session{t: t, in: w, out: &sink{t: t}, holds: map[string]chan struct{}{}, held: map[string]error{}}
		s.tr = &Transport{In: r, Out: s.out}
		if change != nil {
			change(s.tr)
		}
		var err error
		if s.server, err = s.newServer().Connect(t.Context(), s.tr, nil); err != nil {
			t.Fatal(err)
		}
		defer s.finish()
		test(s)
	})
}

// finish ends the input and waits for everything to stop.
func (s *session) finish() {
	s.out.resume()
	s.in.Close()
	time.Sleep(time.Minute) // past every grace
	synctest.Wait()
	select {
	case <-s.tr.Done():
	default:
		s.t.Error("Done is not closed a minute after the end of the input")
	}
	s.mu.Lock()
	for _, gate := range s.holds {
		select {
		case <-gate:
		default:
			close(gate)
		}
	}
	s.mu.Unlock()
	_ = s.server.Wait()
}

func (s *session) newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, do func(ctx context.Context, r *mcp.CallToolRequest, arg string) (string, error)) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var in struct{ Arg string }
				if err := json.Unmarshal(r.Params.Arguments, &in); len(r.Params.Arguments) > 0 && err != nil {
					return nil, err
				}
				text, err := do(ctx, r, in.Arg)
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest, arg string) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.header = append(s.header, r.Extra.Header.Get(RequestIDHeader)+" "+r.Extra.Header.Get(TransportHeader))
		return arg, nil
	})
	add("hold", s.hold)
	add("stubborn", func(_ context.Context, _ *mcp.CallToolRequest, arg string) (string, error) {
		<-s.gate(arg)
		return arg, nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest, string) (string, error) {
		return "", errors.New("secret of the house")
	})
	add("progress", func(ctx context.Context, r *mcp.CallToolRequest, _ string) (string, error) {
		for i := range 1000 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return "done", nil
	})
	add("chatter", func(ctx context.Context, r *mcp.CallToolRequest, _ string) (string, error) {
		failed := 0
		for i := range 1000 {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: i, Progress: 1}); err != nil {
				failed++
			}
		}
		return fmt.Sprint(failed), nil
	})
	add("ask", func(ctx context.Context, r *mcp.CallToolRequest, _ string) (string, error) {
		if err := r.Session.Ping(ctx, nil); err != nil {
			return "", err
		}
		return "asked", nil
	})
	return server
}

// hold runs until released by name, or cancelled.
func (s *session) hold(ctx context.Context, _ *mcp.CallToolRequest, arg string) (string, error) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.held[arg] = ctx.Err()
		s.mu.Unlock()
	}()
	select {
	case <-s.gate(arg):
		return arg, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *session) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds[name] == nil {
		s.holds[name] = make(chan struct{})
	}
	return s.holds[name]
}

func (s *session) release(name string) {
	close(s.gate(name))
	synctest.Wait()
}

// send writes lines, each with a newline, and settles.
func (s *session) send(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		s.raw(line + "\n")
	}
}

func (s *session) raw(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, text); err != nil {
		s.t.Fatalf("the server stopped reading: %v", err)
	}
	synctest.Wait()
}

// want settles and compares what was written since the last time.
func (s *session) want(lines ...string) {
	s.t.Helper()
	synctest.Wait()
	got := s.out.take()
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		s.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	stateless  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

func (s *session) handshake() {
	s.t.Helper()
	s.send(initialize, ready)
	if got := s.out.take(); len(got) != 1 || !strings.Contains(got[0], `"result"`) {
		s.t.Fatalf("handshake: %q", got)
	}
}

func callTool(id, tool, arg string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"arg":%q}}}`, id, tool, arg)
}

func result(id, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func refused(id string, code int, message string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text)
}

func shutDown(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"the server is shutting down",` +
		`"data":{"error_code":"SHUTTING_DOWN","retryable":true,"hint":"call again when the server is back","details":null}}}`
}

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

const (
	ping = `{"jsonrpc":"2.0","id":"alive","method":"ping"}`
	pong = `{"jsonrpc":"2.0","id":"alive","result":{}}`
)

// sink is the client's end of the output. It checks that one Write is one line.
type sink struct {
	t *testing.T

	mu    sync.Mutex
	lines []string
	stall chan struct{} // Write waits for it
	fail  error
}

func (k *sink) Write(b []byte) (int, error) {
	k.mu.Lock()
	stall := k.stall
	k.mu.Unlock()
	if stall != nil {
		<-stall
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return 0, k.fail
	}
	if bytes.Count(b, []byte("\n")) != 1 || b[len(b)-1] != '\n' || !json.Valid(b) {
		k.t.Errorf("a Write is not one line of JSON: %.200q", b)
	}
	k.lines = append(k.lines, strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// pause makes writes block, resume lets them go on.
func (k *sink) pause() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stall = make(chan struct{})
}

func (k *sink) resume() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stall != nil {
		close(k.stall)
		k.stall = nil
	}
}

func (k *sink) breakWith(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = err
}

func (k *sink) take() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines := k.lines
	k.lines = nil
	return lines
}
