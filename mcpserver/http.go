package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/stdio"
)

// Headers of the protocol.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	nameHeader    = "Mcp-Name"
	resumeHeader  = "Last-Event-Id"
)

// callHeader holds the number of a request, by which what handles it finds it again.
const callHeader = "X-Gantry-Call"

// firstStateless is the first revision of the protocol without sessions. Revisions are
// dates, and compare as text.
const firstStateless = "2026-07-28"

// Defaults of the fields of [HTTPOptions] that are zero.
const (
	DefaultKeepAlive   = 15 * time.Second
	DefaultMaxSessions = 1000
	DefaultSessionIdle = time.Hour
)

// HTTPOptions configure an [HTTP].
type HTTPOptions struct {
	KeepAlive   time.Duration // between the comments on a stream on which nothing happens
	MaxSessions int           // that are open at once
	SessionIdle time.Duration // without a request, after which a session ends
	Log         *slog.Logger  // of the SDK; nil: nothing is logged
}

// HTTP serves one path over Streamable HTTP, for both eras of the protocol: clients that
// open a session and clients that send every request on its own. It stands behind an
// [httpfront.Front]. Its sessions are its own and of the token that opened them: on every
// other path, and for every other token, there is no such session.
//
// A client that leaves cancels what it has called, in both eras: without a store of events
// nobody could be given the answer any more. Runs are not touched by that.
type HTTP struct {
	o        HTTPOptions
	server   *mcp.Server
	sessions http.Handler // of the older era
	requests http.Handler
	calls    httpCalls
}

// NewHTTP returns the handler of one path. The server is served by it alone.
func NewHTTP(m *mcp.Server, o HTTPOptions) *HTTP {
	if o.KeepAlive == 0 {
		o.KeepAlive = DefaultKeepAlive
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.SessionIdle == 0 {
		o.SessionIdle = DefaultSessionIdle
	}
	h := &HTTP{o: o, server: m}
	of := func(*http.Request) *mcp.Server { return m }
	known := auth.RequireBearerToken(tokenInfo, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	sdk := func(o mcp.StreamableHTTPOptions) http.Handler {
		o.Logger, o.DisableLocalhostProtection = quiet(h.o.Log), true // the front has seen to it
		open := mcp.NewStreamableHTTPHandler(of, &o)
		closed := known(open)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := httpfront.Who(r.Header); ok {
				closed.ServeHTTP(w, r)
				return
			}
			open.ServeHTTP(w, r)
		})
	}
	h.sessions = sdk(mcp.StreamableHTTPOptions{SessionTimeout: o.SessionIdle})
	h.requests = sdk(mcp.StreamableHTTPOptions{Stateless: true})
	m.AddReceivingMiddleware(h.calls.link)
	return h
}

// tokenInfo tells the SDK who calls, in the only way in which it can be told.
func tokenInfo(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
	who, ok := httpfront.Who(r.Header)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: who.Name, Scopes: who.Scopes}, nil
}

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := httpfront.Who(r.Header); ok {
		r.Header.Set("Authorization", "Bearer -") // the SDK wants to see one before it asks tokenInfo
	}
	if r.Method == http.MethodPost {
		h.post(w, r)
		return
	}
	a := newAnswer(w, r, stdio.Message{}, h.o.KeepAlive)
	defer a.finish()
	h.era(modern(r, "")).ServeHTTP(a, r)
}

// modern reports whether a request is of the era without sessions. said is the revision that
// its body names.
func modern(r *http.Request, said string) bool {
	version := r.Header.Get(versionHeader)
	if version == "" && r.Header.Get(sessionHeader) == "" {
		version = said // the SDK says what is wrong with that
	}
	return version >= firstStateless
}

// era returns who serves a request of an era.
func (h *HTTP) era(modern bool) http.Handler {
	if modern {
		return h.requests
	}
	return h.sessions
}

// post judges a message and has it served.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		httpfront.Refuse(w, http.StatusUnsupportedMediaType, nil, fault.New(fault.InvalidInput, "the Content-Type is application/json"))
		return
	}
	raw, err := io.ReadAll(r.Body) // it is in memory
	if err != nil {
		return
	}
	m, id, refused := stdio.Judge(raw)
	if refused != nil {
		writeError(w, http.StatusBadRequest, id, refused)
		return
	}
	if m.Method == "initialize" && h.full() {
		httpfront.Refuse(w, http.StatusServiceUnavailable, m.ID, fault.Retry(fault.ServerBusy, "%d sessions are open already", h.o.MaxSessions))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	modern := modern(r, saidVersion(m.Params))
	serve := h.era(modern)
	if modern {
		r.Header.Del(resumeHeader)  // this era has none
		r.Header.Del(sessionHeader) // nor this
	}
	decodeName(r.Header)
	a := newAnswer(w, r, m, h.o.KeepAlive)
	defer a.finish()
	if m.ID == nil {
		serve.ServeHTTP(a, r)
		return
	}
	r.Header.Set(stdio.RequestIDHeader, string(m.ID))
	r, done := h.calls.add(r, a)
	defer done()
	serve.ServeHTTP(a, r)
}

func (h *HTTP) full() bool {
	n := 0
	for range h.server.Sessions() {
		n++
	}
	return n >= h.o.MaxSessions
}

// saidVersion returns the revision that the parameters of a message name.
func saidVersion(params json.RawMessage) string {
	var p struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // what does not fit names none
	return p.Meta.Version
}

// decodeName decodes the name that a header may hold in base64, which the SDK compares as
// it comes. What is no base64 stays, and does not match.
func decodeName(header http.Header) {
	text, ok := strings.CutPrefix(header.Get(nameHeader), "=?base64?")
	text, end := strings.CutSuffix(text, "?=")
	if raw, err := base64.StdEncoding.DecodeString(text); ok && end && err == nil {
		header.Set(nameHeader, string(raw))
	}
}

// quiet returns a logger that tells of what is wrong: the SDK greets every session, and a
// request of the newer era is one.
func quiet(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(warnings{log.Handler()})
}

type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Shutdown ends every session and stream of the path. Calls that are under way may finish
// until ctx ends; then they are told to stop, and those that do not are answered with
// SHUTTING_DOWN. The guard refuses the calls that come meanwhile, when it drains.
func (h *HTTP) Shutdown(ctx context.Context) {
	h.calls.settle(ctx)
	var all sync.WaitGroup
	for s := range h.server.Sessions() {
		all.Go(func() { _ = s.Close() }) // nothing more is wanted of it; it waits for its calls
	}
	closed := make(chan struct{})
	go func() { all.Wait(); close(closed) }()
	last := time.NewTimer(lastWord)
	defer last.Stop()
	select {
	case <-closed:
	case <-last.C:
	}
}

// writeError answers with a JSON-RPC error that is no fault's.
func writeError(w http.ResponseWriter, status int, id json.RawMessage, failed *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(encodeError(id, failed)) // who is gone needs no answer
}

func encodeError(id json.RawMessage, failed *jsonrpc.Error) []byte {
	raw, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, failed})
	if err != nil { // data that is no JSON
		return encodeError(id, &jsonrpc.Error{Code: failed.Code, Message: failed.Message})
	}
	return raw
}
