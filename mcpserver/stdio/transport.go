// Package stdio is the MCP transport over standard input and output: one
// JSON-RPC message a line. It stands in front of the SDK's server, which sees
// only well-formed messages, so that no input can end the session and no
// accepted call goes without its answer.
//
// # Lines in
//
// One goroutine reads lines and judges each on its own. What is not a message is
// answered at once, with -32700 (not JSON, not UTF-8) or -32600 (anything else),
// and with the message's id where one can be read: broken syntax, batches, a
// wrong "jsonrpc", members that JSON-RPC does not name, an id that is not a
// string or a 64-bit integer, a key written twice, deep nesting, a line that is
// too long. An id that is itself at fault is answered as null. Blank lines, a
// byte order mark on the first line, CRLF and a last line without its end are
// all fine. A malformed answer from the client is dropped: answering answers
// could go on for ever.
//
// # Calls
//
// A call is open from its acceptance to its answer, or to its cancellation,
// which it leaves without one. Two open calls cannot share an id. The second is
// refused with the id null, and the message names the id: an error that carried
// the id itself would read as the answer to the first. 1 and "1" are different
// ids, and an id is free again once its answer is queued.
//
// MaxInFlight calls run at once; a call's place is taken until its answer has
// been written. As many again wait inside the transport, and beyond that
// reading stops until there is room. While there is room, cancellations and
// the client's answers overtake the calls that wait. While there is none, the
// end of the input is not seen either; the timeouts of the calls bound that.
//
// # Lines out
//
// One goroutine writes, each message with a single Write. Nobody else waits for
// the client to read: answers are bounded by MaxInFlight, refusals by the reader
// that stops, and notifications by a cap, beyond which they are rejected. A
// newer progress notification takes the place of a queued one of its token.
//
// # The end
//
// At the end of the input, accepted calls have EOFGrace to finish. BeginDrain,
// for SIGTERM, refuses the calls that wait and those to come, and gives the
// running ones DrainGrace. What is still open then is answered with Refuse by
// the transport, and its own answer is dropped when it comes. Then Read tells
// the SDK that the input is over, which cancels what still runs; Done is closed
// when the last line is written, or after FlushGrace when the client does not
// read it. If the client closed the output, the end is immediate.
//
// A process whose standard output is a closed pipe dies of SIGPIPE unless it
// asked for that signal with signal.Notify; the program that uses this package
// does so.
//
// # What the SDK sees
//
// A request carries a [mcp.RequestExtra] whose header has [RequestIDHeader] and
// [TransportHeader]. Its id is the client's, except where the SDK could not tell
// two calls apart or would lose digits; then it is a substitute that never
// reaches the wire. Errors that the SDK would send without a code, such as that
// of a call before initialize, get one on the way out.
package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
)

// Headers of the [mcp.RequestExtra] that every request and notification carries
// to the middleware. An HTTP transport must drop them from what a client sends.
const (
	// RequestIDHeader holds the id of a call as the client wrote it: JSON text,
	// so 1 and "1" differ. Notifications lack it.
	RequestIDHeader = "X-Gantry-Request-Id"
	// TransportHeader holds TransportName.
	TransportHeader = "X-Gantry-Transport"
	// TransportName is the value of TransportHeader for this transport.
	TransportName = "stdio"
)

// Defaults of the fields of [Transport] that are zero.
const (
	DefaultMaxLine     = 4 << 20
	DefaultMaxInFlight = 64
	DefaultEOFGrace    = 2 * time.Second
	DefaultDrainGrace  = 5 * time.Second
	DefaultFlushGrace  = 2 * time.Second
)

// ErrUnread is what [Transport.Wait] returns when the client did not read the
// last lines within FlushGrace.
var ErrUnread = errors.New("the client did not read its answers")

// Transport serves one session; it implements [mcp.Transport]. Set the fields
// before the first method call and leave them alone after it.
type Transport struct {
	In  io.Reader // required; never closed
	Out io.Writer // required; never closed, and used by nobody else

	MaxLine     int // bytes of a line without its end
	Depth       int // nesting of arrays and objects; zero means validate.DefaultDepth
	MaxInFlight int // calls that run at once, and again as many that wait

	EOFGrace   time.Duration // for accepted calls after the end of the input
	DrainGrace time.Duration // for running calls after BeginDrain
	FlushGrace time.Duration // for the client to read the last lines

	// Refuse makes the error for a call that meets the shutdown: one that comes
	// while draining, or one that is not done when its grace is over. It must
	// not call the transport. Nil means a retryable SHUTTING_DOWN.
	Refuse func(method string) *jsonrpc.Error

	// Logger gets what the client is not told; nil discards it. Params and
	// results are never logged.
	Logger *slog.Logger

	once sync.Once
	conn *conn
}

// Connect starts reading and writing. It is for [mcp.Server.Connect], once.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	c := t.connection()
	if err := c.start(); err != nil {
		return nil, err
	}
	return c, nil
}

// BeginDrain starts a graceful stop and returns at once. It may be called at any
// time, more than once, from any goroutine.
func (t *Transport) BeginDrain() { t.connection().beginDrain() }

// Done returns a channel that is closed when every accepted call is answered and
// every line written, or given up.
func (t *Transport) Done() <-chan struct{} { return t.connection().done }

// Wait blocks until Done or the end of ctx. It returns nil after a clean end,
// which includes a client that closed the output; else [ErrUnread], what broke
// the input or the output, or the context's error.
func (t *Transport) Wait(ctx context.Context) error {
	c := t.connection()
	select {
	case <-c.done:
		return c.result()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connection returns the one connection, made with the fields as they are now.
func (t *Transport) connection() *conn {
	t.once.Do(func() {
		t.conn = newConn(settings{
			in: t.In, out: t.Out,
			maxLine: or(t.MaxLine, DefaultMaxLine), depth: t.Depth, maxInFlight: or(t.MaxInFlight, DefaultMaxInFlight),
			eofGrace: or(t.EOFGrace, DefaultEOFGrace), drainGrace: or(t.DrainGrace, DefaultDrainGrace), flushGrace: or(t.FlushGrace, DefaultFlushGrace),
			refuse: t.Refuse, logger: t.Logger,
		})
	})
	return t.conn
}

// settings are the fields of a Transport with defaults in place.
type settings struct {
	in                               io.Reader
	out                              io.Writer
	maxLine, depth, maxInFlight      int
	eofGrace, drainGrace, flushGrace time.Duration
	refuse                           func(method string) *jsonrpc.Error
	logger                           *slog.Logger
}

// or returns value unless it is zero or negative.
func or[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// shuttingDown is the Refuse of a Transport without one.
func shuttingDown(string) *jsonrpc.Error {
	data, _ := json.Marshal(struct {
		Code      fault.Code `json:"error_code"`
		Retryable bool       `json:"retryable"`
		Hint      string     `json:"hint"`
		Details   any        `json:"details"`
	}{fault.ShuttingDown, true, "call again when the server is back", nil})
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is shutting down", Data: data}
}
