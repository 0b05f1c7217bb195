package httpfront

import (
	"bytes"
	"net"
	"strconv"
	"strings"
)

// maxHead is the longest head of a request that is looked at, in bytes; a server with the same
// MaxHeaderBytes refuses longer ones by itself.
const maxHead = 64 << 10

// MaxHead is what [http.Server.MaxHeaderBytes] should be behind [Listen].
const MaxHead = maxHead

// malformedHeader marks the request that stands in for one that is malformed. A client that
// sends it is refused all the same.
const malformedHeader = ownPrefix + "Malformed"

// standIn is served in place of a request whose extent is in doubt.
const standIn = "POST / HTTP/1.1\r\nHost: malformed.invalid\r\n" + malformedHeader + ": 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// Listen returns a listener whose connections carry HTTP/1.1 requests without ambiguity.
//
// net/http is forgiving where a proxy in front of it may read otherwise: it takes a lone LF as
// the end of a line, joins folded headers, and believes Transfer-Encoding where there is a
// Content-Length too. Two readings of where a request ends are how one is smuggled in with
// another. So each head is read here first, and one that is not as RFC 9112 wants it is
// replaced by a request that the [Front] refuses, after which the connection is closed.
//
// A chunked body is not followed, so it must be the last of its connection; the front sees to
// that.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements [net.Listener].
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn is one connection. net/http reads it from one goroutine at a time.
type conn struct {
	net.Conn
	in    []byte // read from the client and not judged yet
	ready int    // bytes of in that may be passed on
	body  int64  // bytes of a body that are to be passed on, beyond ready
	rest  bool   // all that follows is passed on
	ended bool   // nothing that follows is
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	for c.ready == 0 {
		switch {
		case c.ended:
			return c.discard()
		case c.body > 0 && len(c.in) > 0:
			c.ready = int(min(c.body, int64(len(c.in))))
			c.body -= int64(c.ready)
			continue
		case c.rest && len(c.in) > 0:
			c.ready = len(c.in)
			continue
		case c.body > 0:
			n, err := c.Conn.Read(p[:min(int64(len(p)), c.body)])
			c.body -= int64(n)
			return n, err
		case c.rest:
			return c.Conn.Read(p)
		case c.head():
			continue
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.in[:c.ready])
	c.in, c.ready = c.in[n:], c.ready-n
	return n, nil
}

// discard waits for the end of the client, which net/http notices by it.
func (c *conn) discard() (int, error) {
	var scrap [512]byte
	for {
		if _, err := c.Conn.Read(scrap[:]); err != nil {
			return 0, err
		}
	}
}

func (c *conn) fill() error {
	if cap(c.in)-len(c.in) < 4<<10 {
		c.in = append(make([]byte, 0, 2*len(c.in)+8<<10), c.in...)
	}
	n, err := c.Conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	if n > 0 {
		return nil
	}
	return err
}

// head judges the head at the start of in, and reports false when it is not whole yet.
func (c *conn) head() bool {
	var h headers
	for at := 0; ; {
		end := bytes.IndexByte(c.in[at:], '\n')
		if end < 0 {
			if len(c.in) > maxHead {
				c.ready, c.rest = len(c.in), true // net/http refuses what is too long
				return true
			}
			return false
		}
		line := c.in[at : at+end]
		at += end + 1
		if !h.line(line) {
			c.in, c.ready, c.ended = []byte(standIn), len(standIn), true
			return true
		}
		if len(line) == 1 { // CR
			c.ready, c.body, c.rest = at, h.length, h.chunked
			if !h.sound() {
				c.in, c.ready, c.ended = []byte(standIn), len(standIn), true
			}
			return true
		}
	}
}

// headers are what a head says of the extent of its request.
type headers struct {
	lines   int
	old     bool // HTTP/1.0
	sized   bool
	length  int64
	chunked bool
}

// line takes the next line, without its LF, and reports whether it is well formed.
func (h *headers) line(raw []byte) bool {
	text, ok := bytes.CutSuffix(raw, []byte("\r"))
	if !ok || !printable(text) {
		return false
	}
	h.lines++
	switch {
	case h.lines == 1:
		h.old = bytes.HasSuffix(text, []byte(" HTTP/1.0"))
		return len(text) > 0
	case len(text) == 0:
		return true
	}
	name, value, ok := strings.Cut(string(text), ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") { // also a folded line
		return false
	}
	value = strings.Trim(value, " \t")
	switch strings.ToLower(name) {
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 62)
		if err != nil || h.sized {
			return false
		}
		h.sized, h.length = true, int64(n)
	case "transfer-encoding":
		if h.chunked || !strings.EqualFold(value, "chunked") {
			return false
		}
		h.chunked = true
	}
	return true
}

// sound reports whether what was said fits together.
func (h *headers) sound() bool { return !h.chunked || !h.sized && !h.old }

// printable reports whether a line holds no control characters but tabs.
func printable(line []byte) bool {
	for _, b := range line {
		if b < ' ' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}
