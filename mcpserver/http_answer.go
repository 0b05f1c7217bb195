package mcpserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/stdio"
)

// writeTime is how long a client may take to read a write of ours.
const writeTime = 10 * time.Second

const eventStream = "text/event-stream"

// answer is the response to one request, between the SDK and the network. It changes what the
// SDK writes in three ways:
//
//   - what the SDK refuses by itself, in plain text and with parts of the request in it,
//     becomes a JSON-RPC error without them;
//   - errors get the code, and where the protocol has one for them the status, that they
//     should have;
//   - a stream on which nothing happens gets a comment now and then, so that no proxy and no
//     client takes it for dead.
//
// The SDK writes an event with one Write.
type answer struct {
	w       http.ResponseWriter
	out     *http.ResponseController
	message stdio.Message // the call; empty for all else
	modern  bool          // of the era without sessions
	every   time.Duration
	header  http.Header // as the SDK sets it; copied when it is sent
	leave   func()      // ends the request for the SDK

	mu       sync.Mutex
	status   int  // that the SDK chose; 0: none yet
	sent     bool // the status is on its way
	stream   bool // and said that events follow
	answered bool // the call has its answer
	over     bool // nothing more is written
	alive    *time.Timer
}

func newAnswer(w http.ResponseWriter, r *http.Request, m stdio.Message, every time.Duration) *answer {
	a := &answer{
		w: w, out: http.NewResponseController(w), message: m, every: every, header: http.Header{},
		modern: r.Header.Get(versionHeader) >= firstStateless,
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alive = time.AfterFunc(every, a.keepAlive)
	return a
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. What it leads to is seen when something is
// written, or at the end.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		a.status = status
	}
}

// FlushError is what [http.ResponseController] flushes by.
func (a *answer) FlushError() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.sent || a.over {
		return nil
	}
	return a.out.Flush()
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return len(p), nil
	}
	var err error
	switch kind, data := a.reads(p); {
	case a.status >= 400:
		err = a.refused(p)
	case kind == anError:
		err = a.failed(errorOf(data))
	default:
		a.answered = a.answered || kind == aResult
		err = a.send(http.StatusOK, a.header, p)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// refused sends what the SDK refused by itself. a.mu is held.
func (a *answer) refused(p []byte) error {
	if failed := errorOf(p); failed != nil {
		return a.sendError(a.status, a.known(failed))
	}
	if bytes.HasPrefix(p, []byte(notHandled)) { // the older era has no status for this
		a.status = http.StatusAccepted
		if a.message.ID == nil { // nobody has to know every notification
			a.header.Del("Content-Type")
			return nil
		}
		return a.sendError(http.StatusOK, a.known(&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}))
	}
	status := a.status
	if status == http.StatusForbidden { // a session of another token: none at all
		status = http.StatusNotFound
	}
	for _, name := range []string{"Allow", "Retry-After"} {
		if v := a.header.Get(name); v != "" && !a.sent {
			a.w.Header().Set(name, v)
		}
	}
	a.answered = true
	return a.sendBody(status, httpfront.Body(status, a.message.ID, fault.New(fault.InvalidInput, "%s", reason(status))))
}

// maxVersions is more than the data of an error takes that lists revisions and repeats one.
const maxVersions = 512

// notHandled is how the SDK says that it does not know a method.
const notHandled = "JSON RPC not handled"

// reason says in our words why the SDK refused a request.
func reason(status int) string {
	switch status {
	case http.StatusNotFound:
		return "there is no such session here"
	case http.StatusMethodNotAllowed:
		return "this method is not served here"
	case http.StatusConflict:
		return "the session has a stream already"
	}
	return "the request is not one of MCP's: look at its Accept, MCP-Protocol-Version and Mcp-Session-Id, and at its message"
}

// known returns an error in words of ours where the SDK's repeat the request.
func (a *answer) known(failed *jsonrpc.Error) *jsonrpc.Error {
	failed = stdio.Presentable(a.message.Method, failed)
	if code, _ := faultOf(failed); code != "" {
		return failed
	}
	switch failed.Code {
	case mcp.CodeHeaderMismatch:
		failed.Message = "the headers MCP-Protocol-Version, Mcp-Method, Mcp-Name and Mcp-Param-* repeat what the message says"
	case mcp.CodeUnsupportedProtocolVersion:
		failed.Message = "the revision of the protocol is not supported; data lists those that are"
		if len(failed.Data) > maxVersions {
			failed.Data = nil
		}
	case jsonrpc.CodeMethodNotFound:
		failed.Message = "there is no such method"
	}
	return failed
}

// failed sends the error that answers the call. It may have a status of its own. a.mu is held.
func (a *answer) failed(failed *jsonrpc.Error) error {
	failed = a.known(failed)
	code, scope := faultOf(failed)
	switch {
	case code == fault.AuthInsufficientScope:
		if !a.sent {
			a.w.Header().Set("WWW-Authenticate", httpfront.InsufficientScope(scope))
		}
		return a.sendError(http.StatusForbidden, failed)
	case a.modern && failed.Code == jsonrpc.CodeMethodNotFound:
		return a.sendError(http.StatusNotFound, failed)
	case a.modern && failed.Code == mcp.CodeHeaderMismatch:
		return a.sendError(http.StatusBadRequest, failed)
	}
	a.answered = true
	return a.send(http.StatusOK, a.header, frame(encodeError(a.id(), failed)))
}

// id is the id to answer to.
func (a *answer) id() json.RawMessage {
	if a.message.ID == nil {
		return json.RawMessage("null")
	}
	return a.message.ID
}

// sendError sends an error as the whole answer. a.mu is held.
func (a *answer) sendError(status int, failed *jsonrpc.Error) error {
	a.answered = true
	return a.sendBody(status, encodeError(a.id(), failed))
}

// sendBody sends JSON with a status; as an event, when the status has been sent. a.mu is held.
func (a *answer) sendBody(status int, body []byte) error {
	if a.sent {
		return a.send(status, nil, frame(body))
	}
	length := strconv.Itoa(len(body)) // so that nobody waits for the end of the handler to have it all
	return a.send(status, http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}, "Content-Length": {length}}, body)
}

// send sends bytes as they are, after the header. a.mu is held.
func (a *answer) send(status int, header http.Header, p []byte) error {
	a.deadline()
	defer func() { _ = a.out.SetWriteDeadline(time.Time{}) }()
	a.commit(status, header)
	a.alive.Reset(a.every)
	_, err := a.w.Write(p)
	return err
}

// deadline bounds the next write.
func (a *answer) deadline() { _ = a.out.SetWriteDeadline(time.Now().Add(writeTime)) }

// commit sends the header once. a.mu is held.
func (a *answer) commit(status int, header http.Header) {
	if a.sent {
		return
	}
	h := a.w.Header()
	for name, values := range header {
		if name != "Connection" { // the front decides about that
			h[name] = values
		}
	}
	if strings.HasPrefix(h.Get("Content-Type"), eventStream) {
		a.stream = true
		h.Set("X-Accel-Buffering", "no") // a proxy passes events on as they come
	}
	a.sent = true
	a.w.WriteHeader(status)
}

// keepAlive writes a comment. If the call has lasted that long without a word, its answer will
// be a stream.
func (a *answer) keepAlive() {
	a.mu.Lock()
	defer a.mu.Unlock()
	waits := a.message.ID != nil && a.status == 0 && a.message.Method != "initialize" // its header is yet to come
	if a.over || a.sent && !a.stream || !a.sent && !waits {
		return
	}
	a.deadline()
	defer func() { _ = a.out.SetWriteDeadline(time.Time{}) }()
	// The SDK may be writing to its header at this moment.
	a.commit(http.StatusOK, http.Header{"Content-Type": {eventStream}, "Cache-Control": {"no-cache, no-transform"}})
	if _, err := a.w.Write([]byte(": keep-alive\n\n")); err == nil && a.out.Flush() == nil {
		a.alive.Reset(a.every)
	}
}

// abandon answers a call in place of its handler, which does not end.
func (a *answer) abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.answered && !a.over {
		// Who is gone needs no answer.
		_ = a.sendError(http.StatusServiceUnavailable, Refusal(a.message.Method))
		_ = a.out.Flush()
	}
	a.over = true
	a.leave()
}

// finish sends what is left when the SDK has returned.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alive.Stop()
	switch {
	case a.over:
	case a.message.ID != nil && !a.answered && a.status < 400: // its session has ended, or the client is gone
		_ = a.sendError(http.StatusServiceUnavailable, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the session ended before the call"})
	case !a.sent && a.status != 0:
		a.commit(a.status, a.header)
	}
	a.over = true
}

// frame returns a message as an event.
func frame(message []byte) []byte {
	return append(append([]byte("event: message\ndata: "), message...), "\n\n"...)
}

// kind is what the SDK writes, as far as it matters here.
type kind int

const (
	anythingElse kind = iota
	aResult           // that answers the call
	anError           // that does
)

// reads returns what a write is, and the message in it. It goes by the member that follows the
// id: results may be large, and are not looked through.
func (a *answer) reads(p []byte) (kind, []byte) {
	_, data, ok := bytes.Cut(p, []byte("data: "))
	if a.message.ID == nil || !ok || !bytes.HasPrefix(p, []byte("event: message\n")) {
		return anythingElse, nil
	}
	data = bytes.TrimSuffix(data, []byte("\n\n"))
	rest, ok := bytes.CutPrefix(data, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return anythingElse, nil
	}
	id := json.NewDecoder(bytes.NewReader(rest[:min(len(rest), 8<<10)])) // an id is much shorter
	if _, err := id.Token(); err != nil {
		return anythingElse, nil
	}
	switch rest = rest[id.InputOffset():]; {
	case bytes.HasPrefix(rest, []byte(`,"result":`)):
		return aResult, data
	case bytes.HasPrefix(rest, []byte(`,"error":`)):
		return anError, data
	}
	return anythingElse, nil
}

// errorOf returns the error of a response; nil when the text is no response with one.
func errorOf(data []byte) *jsonrpc.Error {
	var m struct {
		Error *jsonrpc.Error `json:"error"`
	}
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m.Error
}

// faultOf returns the code of the fault that an error was made of, and the scope that its
// details name.
func faultOf(failed *jsonrpc.Error) (code fault.Code, scope string) {
	var d struct {
		Code    fault.Code `json:"error_code"`
		Details struct {
			Scope string `json:"scope"`
		} `json:"details"`
	}
	_ = json.Unmarshal(failed.Data, &d) // what has another form is no such fault's
	return d.Code, d.Details.Scope
}
