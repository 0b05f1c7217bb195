package httpfront

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/specs"
)

// refusal is how a request is refused.
type refusal struct {
	status int
	fault  *fault.Fault
	header [][2]string
}

func refuse(status int, f *fault.Fault) *refusal { return &refusal{status: status, fault: f} }

func (r *refusal) with(name, value string) *refusal {
	r.header = append(r.header, [2]string{name, value})
	return r
}

// after tells when to try again; whole seconds, rounded up.
func (r *refusal) after(wait time.Duration) *refusal {
	return r.with("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
}

// close ends the connection: what follows on it may not be a request.
func (r *refusal) close() *refusal { return r.with("Connection", "close") }

func (r *refusal) write(w http.ResponseWriter) {
	for _, h := range r.header {
		w.Header().Set(h[0], h[1])
	}
	Refuse(w, r.status, nil, r.fault)
}

// Refuse answers with a fault as a JSON-RPC error. The id is JSON text; nil when there is none
// to answer to.
func Refuse(w http.ResponseWriter, status int, id json.RawMessage, f *fault.Fault) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Del("Content-Length")
	w.WriteHeader(status)
	_, _ = w.Write(Body(status, id, f)) // who is gone needs no answer
}

// body is a JSON-RPC error response.
type body struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			ErrorCode fault.Code `json:"error_code"`
			Retryable bool       `json:"retryable"`
			Hint      string     `json:"hint"`
			Details   any        `json:"details,omitempty"`
		} `json:"data"`
	} `json:"error"`
}

// The codes of JSON-RPC for a request that is wrong and for one that is right and refused.
const (
	rpcInvalidRequest = -32600
	rpcInternal       = -32603
)

// Body returns what [Refuse] answers with.
func Body(status int, id json.RawMessage, f *fault.Fault) []byte {
	b := body{Version: "2.0", ID: id}
	if id == nil {
		b.ID = json.RawMessage("null")
	}
	b.Error.Code = rpcInternal
	if status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnsupportedMediaType {
		b.Error.Code = rpcInvalidRequest
	}
	b.Error.Message = f.Message
	d := &b.Error.Data
	d.ErrorCode, d.Retryable, d.Hint, d.Details = f.Code, f.Retryable, f.Hint, f.Details
	if info, ok := specs.Error(f.Code); ok && d.Hint == "" {
		d.Hint = info.Hint
	}
	raw, err := json.Marshal(b)
	if err != nil { // only details can be at fault
		d.Details = nil
		raw, _ = json.Marshal(b)
	}
	return raw
}
