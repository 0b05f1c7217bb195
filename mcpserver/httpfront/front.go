// Package httpfront is what an HTTP request passes before it is served.
//
// A request meets these guards in this order, and the first that refuses it answers:
//
//	framing     its extent is beyond doubt: see [Listen]
//	body limit  it says of itself that it is no larger than 4 MiB
//	host        its Host is one of ours, so that no name of somebody else leads here (403)
//	origin      if a browser sends it, then for a page of ours or one that is allowed (403)
//	headers     no header of one value is there twice (400)
//	bearer      it shows a token that is known (401); guesses are counted for each address (429)
//	scope       the token has the scope of the path (403)
//	in flight   there are not too many under way (503)
//	body        it arrives, whole, within 20 seconds (408, 413)
//
// A refusal is a JSON-RPC error without an id. It says what is wrong in words of its own and
// repeats nothing of the request. What proxies say of a client, such as X-Forwarded-For, is
// not believed.
//
// Behind the front the request has its body in memory and says who sent it: [Who]. The bearer
// token itself stays in the front, and so do headers of our own that a client made up.
package httpfront

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/tokens"
)

// Defaults of the fields of [Options] that are zero.
const (
	DefaultMaxBody     = 4 << 20
	DefaultMaxInFlight = 1024
	DefaultBodyTime    = 20 * time.Second
)

// Options configure a [Front].
type Options struct {
	Tokens      *tokens.Store    // required; one that is not configured lets everybody in
	Hosts       []string         // that a request may be for: host:port, or host for any port
	Origins     []string         // besides our own, of whose pages requests are taken: scheme://host[:port]
	MaxBody     int64            // bytes
	MaxInFlight int              // requests under way, streams included
	BodyTime    time.Duration    // for a body to arrive
	Now         func() time.Time // default [time.Now]
}

// Front is the guards with their state.
type Front struct {
	o        Options
	hosts    map[string]bool
	origins  map[string]bool
	guesses  guesses
	inFlight atomic.Int64
}

// New returns a front.
func New(o Options) *Front {
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxInFlight == 0 {
		o.MaxInFlight = DefaultMaxInFlight
	}
	if o.BodyTime == 0 {
		o.BodyTime = DefaultBodyTime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Front{o: o, hosts: lowerSet(o.Hosts), origins: lowerSet(o.Origins)}
}

func lowerSet(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[strings.ToLower(s)] = true
	}
	return set
}

// guard lets a request pass or says how it is refused. It may set headers of the answer.
type guard func(f *Front, w http.ResponseWriter, r *http.Request) *refusal

// Wrap returns next behind the guards. scope is what a token needs for it; "" is none, but a
// token all the same.
func (f *Front) Wrap(next http.Handler, scope string) http.Handler {
	chain := []guard{
		(*Front).framing, (*Front).size, (*Front).host, (*Front).origin, (*Front).single, (*Front).bearer,
		func(f *Front, _ http.ResponseWriter, r *http.Request) *refusal { return f.scope(r, scope) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, ask := range chain {
			if refused := ask(f, w, r); refused != nil {
				refused.write(w)
				return
			}
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			preflight(w)
			return
		}
		defer f.inFlight.Add(-1)
		if f.inFlight.Add(1) > int64(f.o.MaxInFlight) {
			refuse(http.StatusServiceUnavailable, fault.Retry(fault.ServerBusy, "too many requests are under way")).after(time.Second).write(w)
			return
		}
		if refused := f.body(w, r); refused != nil {
			refused.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Public returns next behind those guards that ask for no token.
func (f *Front) Public(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, ask := range []guard{(*Front).framing, (*Front).size, (*Front).host, (*Front).origin, (*Front).single} {
			if refused := ask(f, w, r); refused != nil {
				refused.write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// framing refuses what [Listen] found out.
func (f *Front) framing(_ http.ResponseWriter, r *http.Request) *refusal {
	if r.Header.Get(malformedHeader) == "" {
		return nil
	}
	return refuse(http.StatusBadRequest, fault.New(fault.InvalidInput, "the head of the request is malformed or ambiguous")).close()
}

// size refuses a body that is announced too large; one that is not announced is cut off when
// it is read.
func (f *Front) size(_ http.ResponseWriter, r *http.Request) *refusal {
	if r.ContentLength > f.o.MaxBody {
		return f.tooLarge()
	}
	return nil
}

func (f *Front) tooLarge() *refusal {
	return refuse(http.StatusRequestEntityTooLarge, fault.New(fault.InvalidInput, "the body is larger than %d bytes", f.o.MaxBody)).close()
}

// body reads the body, so that nothing behind the front waits for a slow client.
func (f *Front) body(w http.ResponseWriter, r *http.Request) *refusal {
	if len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close") // what Listen counts on
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	deadline := http.NewResponseController(w)
	_ = deadline.SetReadDeadline(time.Now().Add(f.o.BodyTime)) // a recorder of a test has none
	raw, err := readAll(http.MaxBytesReader(w, r.Body, f.o.MaxBody), r.ContentLength)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return f.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, fault.New(fault.InvalidInput, "the body did not arrive in time")).close()
	case err != nil:
		return refuse(http.StatusBadRequest, fault.New(fault.InvalidInput, "the body is cut off or malformed")).close()
	}
	_ = deadline.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(raw))
	r.ContentLength = int64(len(raw))
	return nil
}

// readAll reads to the end. size is what to expect, or negative.
func readAll(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	if size > 0 {
		b.Grow(int(size) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
