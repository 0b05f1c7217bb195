package httpfront

import (
	"net/http"
	"strings"
	"testing"
)

// A request whose extent two servers could read in two ways is refused, and so is all that
// follows it on the connection.
func TestWhatCouldBeReadInTwoWaysIsRefused(t *testing.T) {
	const smuggled = "POST /smuggled HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer " + secret + "\r\nContent-Length: 0\r\n\r\n"
	for name, head := range map[string]string{
		"both lengths":              "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"both lengths, other order": "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"two Content-Lengths":       "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		"two that differ":           "Content-Length: 2\r\nContent-Length: 100\r\n\r\n{}",
		"a list of them":            "Content-Length: 2, 2\r\n\r\n{}",
		"a sign":                    "Content-Length: +2\r\n\r\n{}",
		"a hexadecimal one":         "Content-Length: 0x2\r\n\r\n{}",
		"a negative one":            "Content-Length: -2\r\n\r\n{}",
		"an empty one":              "Content-Length:\r\n\r\n",
		"an unknown coding":         "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"a list of codings":         "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"two codings":               "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"a coding behind a tab":     "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
		"a space before the colon":  "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"a folded line":             "X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n",
		"a folded line, with a tab": "X-A: b\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
		"a lone LF":                 "X-A: b\nContent-Length: 0\r\n\r\n",
		"a lone LF at the end":      "Content-Length: 0\r\n\n",
		"a lone CR":                 "X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
		"a NUL":                     "X-A: b\x00c\r\nContent-Length: 0\r\n\r\n",
		"a line without a colon":    "garbage\r\nContent-Length: 0\r\n\r\n",
		"a name that is none":       ": b\r\nContent-Length: 0\r\n\r\n",
		"an escape":                 "X-A: \x1b[31m\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			text := "POST /path HTTP/1.1\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + secret + "\r\n" + head
			got := s.raw(text+strings.ReplaceAll(smuggled, "HOST", s.addr), 3)
			if len(got) != 1 || !got[0].closes {
				t.Fatalf("%d answers: %+v", len(got), got)
			}
			s.refused(got[0], http.StatusBadRequest, "INVALID_INPUT")
		})
	}
}

func TestOldProtocolsHaveNoChunks(t *testing.T) {
	s := newSite(t, nil)
	got := s.raw("POST / HTTP/1.0\r\nHost: "+s.addr+"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1)
	s.refused(got[0], http.StatusBadRequest, "INVALID_INPUT")
}

// Requests that follow each other on one connection are each judged, whatever their bodies
// look like.
func TestOneConnectionCarriesManyRequests(t *testing.T) {
	s := newSite(t, nil)
	head := "POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + secret + "\r\n"
	body := "GET / HTTP/1.1\nX: y\n\n" // no head: it is within the length
	one := head + "Content-Length: " + "22" + "\r\n\r\n" + body
	if len(body) != 22 {
		body += strings.Repeat(" ", 22-len(body))
		one = head + "Content-Length: 22\r\n\r\n" + body
	}
	got := s.raw(strings.Repeat(one, 50)+head+"Content-Length: 0\r\n\r\n"+head+"X: y\n\r\n", 60)
	if len(got) != 52 {
		t.Fatalf("%d answers", len(got))
	}
	for i, a := range got[:51] {
		if a.status != http.StatusOK {
			t.Fatalf("answer %d: %+v", i, a)
		}
		<-s.seen
	}
	s.refused(got[51], http.StatusBadRequest, "INVALID_INPUT")
}

// What follows a chunked body is not followed, so it is not served either.
func TestAChunkedBodyIsTheLastOfItsConnection(t *testing.T) {
	s := newSite(t, nil)
	head := "POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + secret + "\r\n"
	got := s.raw(head+"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"+head+"Content-Length: 0\r\n\r\n", 2)
	if len(got) != 1 || !got[0].closes {
		t.Fatalf("%+v", got)
	}
	s.passes(got[0])
	if len(s.seen) != 0 {
		t.Error("a request that followed a chunked body was served")
	}
}

func TestAHeadThatIsTooLongIsRefused(t *testing.T) {
	s := newSite(t, nil)
	got := s.raw("POST / HTTP/1.1\r\nHost: "+s.addr+"\r\nX-A: "+strings.Repeat("a", 2*MaxHead)+"\r\n\r\n", 2)
	if len(got) != 1 || got[0].status != http.StatusRequestHeaderFieldsTooLarge || len(s.seen) != 0 {
		t.Errorf("%+v", got)
	}
}
