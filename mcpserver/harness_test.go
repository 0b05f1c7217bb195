package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/stdio"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "correct-horse-battery-staple"

// rig is a server whose tools do what the test says, and a client of the SDK.
type rig struct {
	t      *testing.T
	spans  *tracetest.SpanRecorder
	log    *bytes.Buffer
	guard  *guard.Guard
	server *mcp.Server
	client *mcp.ClientSession

	progress chan *mcp.ProgressNotificationParams
	updated  chan string
	handle   func(ctx context.Context, c *guard.Call) (tool.Result, error)
}

// newRig serves one tool of each effect in the toolset launch, and one of a toolset
// whose errors are results.
func newRig(t *testing.T, change func(*mcpserver.Options)) *rig {
	t.Helper()
	r := &rig{
		t: t, spans: tracetest.NewSpanRecorder(), log: new(bytes.Buffer),
		progress: make(chan *mcp.ProgressNotificationParams, 100), updated: make(chan string, 100),
		handle: func(context.Context, *guard.Call) (tool.Result, error) {
			return tool.Result{JSON: json.RawMessage(`{"ok":true}`)}, nil
		},
	}
	redactor := telemetry.NewRedactor([]string{secret})
	tel, err := telemetry.Open(t.Context(), telemetry.Options{
		Redactor: redactor, SpanProcessors: []sdktrace.SpanProcessor{r.spans},
		Tools: map[string][]string{"launch": {"look_at", "act_on", "end_it"}, "board": {"card"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(context.Background()) })
	r.guard = guard.New(guard.Options{Telemetry: tel, Redactor: redactor})
	o := mcpserver.Options{
		Name: "test", Version: "1.2.3", Instructions: "be kind", Guard: r.guard, Tools: r.tools(),
		Log: slog.New(slog.NewJSONHandler(&lockedWriter{w: r.log}, nil)),
	}
	if change != nil {
		change(&o)
	}
	r.server = mcpserver.New(o)
	return r
}

type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (r *rig) tools() []tool.Tool {
	var out []tool.Tool
	for _, s := range []struct {
		toolset, name string
		effect        specs.Effect
	}{{"launch", "look_at", specs.Read}, {"launch", "act_on", specs.Run}, {"launch", "end_it", specs.Destroy}, {"board", "card", specs.Write}} {
		out = append(out, tool.Tool{
			Spec: specs.Tool{
				Toolset: s.toolset, Name: s.name, Title: "A title", Effect: s.effect, TimeoutS: 60,
				Description: specs.Description{UseWhen: "a", Required: "b", Optional: "c", Next: "d", Avoid: "e"},
				Input:       json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","maximum":3}}}`),
				Output:      json.RawMessage(`{"type":"object","required":["ok"],"properties":{"ok":{"const":true}}}`),
			},
			Handle: func(ctx context.Context, c *guard.Call) (tool.Result, error) { return r.handle(ctx, c) },
		})
	}
	return out
}

// connect starts a session of the era over a transport in memory.
func (r *rig) connect(era string) *rig {
	r.t.Helper()
	mine, theirs := mcp.NewInMemoryTransports()
	return r.connectVia(era, mine, theirs)
}

// overStdio starts a session over the transport for standard input and output, which
// turns errors into what is on the wire.
func (r *rig) overStdio(era string) *rig {
	r.t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	tr := &stdio.Transport{In: toServer, Out: fromServer, Refuse: mcpserver.Refusal}
	r.t.Cleanup(func() {
		fromClient.Close()
		<-tr.Done()
		fromServer.Close()
	})
	return r.connectVia(era, tr, &mcp.IOTransport{Reader: toClient, Writer: fromClient})
}

func (r *rig) connectVia(era string, mine, theirs mcp.Transport) *rig {
	r.t.Helper()
	served, err := r.server.Connect(r.t.Context(), mine, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) { r.progress <- req.Params },
		ResourceUpdatedHandler:      func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { r.updated <- req.Params.URI },
	})
	if r.client, err = c.Connect(r.t.Context(), theirs, &mcp.ClientSessionOptions{ProtocolVersion: era}); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = r.client.Close()
		_ = served.Close()
		_ = served.Wait()
	})
	return r
}

func (r *rig) call(name string, args any) (*mcp.CallToolResult, error) {
	return r.client.CallTool(r.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
}

// rpc returns the JSON-RPC error of a call and its data.
func (r *rig) rpc(err error) (*jsonrpc.Error, map[string]any) {
	r.t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		r.t.Fatalf("got %v, want a JSON-RPC error", err)
	}
	data := map[string]any{}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &data); err != nil {
			r.t.Fatal(err)
		}
	}
	return e, data
}

// shelf is a resource whose changes the test makes.
type shelf struct {
	mu      sync.Mutex
	streams map[string]chan struct{} // by URI
	watches int                      // under way
	started int
	ended   chan string
	by      []string // the tokens of those who watch
}

func newShelf() *shelf {
	return &shelf{streams: map[string]chan struct{}{}, ended: make(chan string, 1000)}
}

func (s *shelf) Templates() []tool.Template {
	return []tool.Template{{URI: "resource://run/{run_id}/{artifact}", Name: "artifact", Title: "Artifact", Description: "A file"}}
}

func (s *shelf) Read(_ context.Context, _ guard.Caller, uri string) (tool.Content, error) {
	switch uri {
	case "resource://run/r_12345678/text.md":
		return tool.Content{MIMEType: "text/markdown", Text: "it is " + secret}, nil
	case "resource://run/r_12345678/picture.png":
		return tool.Content{MIMEType: "image/png", Blob: []byte{0x89, 'P', 0, 0xff}}, nil
	case "resource://run/r_12345678/panic":
		panic("of the house")
	case "resource://run/r_12345678/huge.bin":
		return tool.Content{}, fault.New(fault.InvalidInput, "too large").WithHint("read slices")
	case "resource://run/r_12345678/broken":
		return tool.Content{}, errors.New("disk of the house")
	}
	return tool.Content{}, fault.New(fault.RunNotFound, "there is no run")
}

func (s *shelf) Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error) {
	if uri == "resource://run/r_none0000/x" {
		return nil, fault.New(fault.RunNotFound, "there is no run")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by = append(s.by, who.Token)
	if s.streams[uri] == nil {
		s.streams[uri] = make(chan struct{})
	}
	changes := s.streams[uri]
	return func(yield func(struct{}) bool) {
		s.count(1)
		defer func() { s.count(-1); s.ended <- uri }()
		for {
			select {
			case _, more := <-changes:
				if !more || !yield(struct{}{}) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}, nil
}

func (s *shelf) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches += n
	s.started += max(0, n)
}

func (s *shelf) stream(uri string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[uri]
}
