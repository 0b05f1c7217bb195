package httpfront

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/mcpserver/tokens"
)

func TestAGoodRequestComesThroughWithWhoSentIt(t *testing.T) {
	s := newSite(t, nil)
	r := s.passes(s.ask("X-Gantry-Token: root", "X-Gantry-Scopes: admin", "x-gantry-Anything: 1", "X-Forwarded-For: 10.0.0.1"))
	if who, ok := Who(r.Header); !ok || who.Name != "ci" || fmt.Sprint(who.Scopes) != "[read run]" {
		t.Errorf("it is of %+v, %v", who, ok)
	}
	for name := range r.Header {
		if strings.HasPrefix(name, ownPrefix) && name != tokenHeader && name != scopesHeader || name == "Authorization" {
			t.Errorf("%s came through", name)
		}
	}
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" {
		t.Errorf("the body is %q, %v", body, err)
	}
}

func TestHostsThatAreNotOursAreForbidden(t *testing.T) {
	s := newSite(t, nil)
	_, port, _ := net.SplitHostPort(s.addr)
	for _, host := range []string{s.addr, "localhost:" + port, "LOCALHOST:" + port, "[::1]:" + port, "gantry.example", "gantry.example:9999"} {
		s.passes(s.ask("Host: " + host))
	}
	for _, host := range []string{
		"127.0.0.1.evil.example:" + port, "localhost.evil.com", "localhost.evil.com:" + port, "0.0.0.0", "0.0.0.0:" + port, "[::ffff:7f00:1]", "[::ffff:7f00:1]:" + port,
		"127.0.0.1", "127.0.0.1:1", "localhost", "127.0.0.1:" + port + "0", "gantry.example.evil", "",
	} {
		s.refused(s.ask("Host: "+host), http.StatusForbidden, "ACCESS_DENIED")
	}
	s.refused(s.ask("Host: evil.example", "X-Forwarded-Host: "+s.addr), http.StatusForbidden, "ACCESS_DENIED") // a proxy is not believed
}

func TestPagesOfOthersAreForbidden(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Origins = []string{"https://app.example"} })
	for _, lines := range [][]string{
		{"Origin: http://" + s.addr}, {"Origin: http://" + s.addr, "Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"},
	} {
		if a := s.ask(lines...); a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v: %v", lines, a.header)
		} else {
			s.passes(a)
		}
	}
	for _, lines := range [][]string{
		{"Origin: https://evil.example"}, {"Origin: null"}, {"Origin: http://" + s.addr + ".evil.example"}, {"Origin: http://localhost"},
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Origin: https://app.example.evil"},
		{"Origin: http://" + s.addr, "Origin: https://evil.example"},
	} {
		a := s.ask(lines...)
		s.refused(a, http.StatusForbidden, "ACCESS_DENIED")
		if a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v is let read the answer", lines)
		}
	}
	a := s.ask("Origin: https://app.example")
	if s.passes(a); a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || a.header.Get("Vary") != "Origin" {
		t.Errorf("a page that is allowed: %v", a.header)
	}
}

func TestAPreflightIsAnsweredForAllowedPagesOnly(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Origins = []string{"https://app.example"} })
	ask := func(origin string) answer {
		return s.raw("OPTIONS /mcp HTTP/1.1\r\nHost: "+s.addr+"\r\nOrigin: "+origin+"\r\nAccess-Control-Request-Method: POST\r\n\r\n", 1)[0]
	}
	evil := ask("https://evil.example")
	s.refused(evil, http.StatusForbidden, "ACCESS_DENIED")
	if evil.header.Get("Access-Control-Allow-Origin") != "" || evil.header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("%v", evil.header)
	}
	if a := ask("https://app.example"); a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || len(s.seen) != 0 {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestOnlyABearerTokenInItsHeaderCounts(t *testing.T) {
	s := newSite(t, nil)
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		s.passes(s.ask("Authorization: " + scheme + " " + secret))
	}
	for lines, challenge := range map[string]string{
		"-Authorization":                        `Bearer realm="gantry"`,
		"Authorization: Basic dTpw":             `Bearer realm="gantry"`,
		"Authorization: " + secret:              `Bearer realm="gantry"`,
		"Authorization: Bearer":                 `Bearer realm="gantry"`,
		"Authorization: Bearer ":                `Bearer realm="gantry"`,
		"Authorization: Bearer x" + secret:      `Bearer realm="gantry", error="invalid_token"`,
		"Authorization: Bearer " + hostile:      `Bearer realm="gantry", error="invalid_token"`,
		"Authorization: Bearer ci:" + secret:    `Bearer realm="gantry", error="invalid_token"`,
		"Authorization: Bearer " + secret + ",": `Bearer realm="gantry", error="invalid_token"`,
	} {
		a := s.ask(lines)
		s.refused(a, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
		if got := a.header.Get("WWW-Authenticate"); got != challenge {
			t.Errorf("%s: %s", lines, got)
		}
	}
	for _, query := range []string{"token", "access_token"} {
		got := s.raw("POST /mcp?"+query+"="+secret+" HTTP/1.1\r\nHost: "+s.addr+"\r\nContent-Length: 0\r\n\r\n", 1)
		s.refused(got[0], http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	}
}

func TestATokenWithoutTheScopeIsForbidden(t *testing.T) {
	s := newSite(t, nil)
	closed := s.front.Wrap(http.NotFoundHandler(), tokens.ScopeAdmin)
	srv := &http.Server{Handler: closed, ReadHeaderTimeout: patience}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	defer func() { _ = srv.Close(); <-served }()
	host := s.addr
	s.addr = l.Addr().String()
	a := s.ask("Host: " + host)
	s.refused(a, http.StatusForbidden, "AUTH_INSUFFICIENT_SCOPE")
	if got := a.header.Get("WWW-Authenticate"); got != `Bearer realm="gantry", error="insufficient_scope", scope="admin"` {
		t.Error(got)
	}
}

func TestHeadersOfOneValueMayBeThereOnce(t *testing.T) {
	s := newSite(t, nil)
	for _, name := range []string{"Authorization", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version", "mcp-method", "Mcp-Name", "Mcp-Param-Region", "Last-Event-ID", "Traceparent"} {
		got := s.raw("POST / HTTP/1.1\r\nHost: "+s.addr+"\r\n"+name+": a\r\n"+name+": "+hostile+"\r\nContent-Length: 0\r\n\r\n", 1)
		s.refused(got[0], http.StatusBadRequest, "INVALID_INPUT")
	}
	s.passes(s.ask("Accept: application/json", "Accept: text/event-stream"))
}

func TestABodyIsNoLargerThanTheLimit(t *testing.T) {
	s := newSite(t, func(o *Options) { o.MaxBody = 1000 })
	head := "POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nAuthorization: Bearer " + secret + "\r\n"
	s.passes(s.raw(head+"Content-Length: 1000\r\n\r\n"+strings.Repeat(" ", 1000), 1)[0])
	s.refused(s.raw(head+"Content-Length: 1001\r\n\r\n", 1)[0], http.StatusRequestEntityTooLarge, "INVALID_INPUT") // unread
	chunked := s.raw(head+"Transfer-Encoding: chunked\r\n\r\n3e9\r\n"+strings.Repeat(" ", 1001)+"\r\n0\r\n\r\n", 1)
	s.refused(chunked[0], http.StatusRequestEntityTooLarge, "INVALID_INPUT")
	huge := s.raw("POST / HTTP/1.1\r\nHost: "+s.addr+"\r\nContent-Length: 9223372036854775807\r\n\r\n", 1) // before anything else is looked at
	if len(huge) != 1 || huge[0].status != http.StatusRequestEntityTooLarge && huge[0].status != http.StatusBadRequest {
		t.Errorf("%+v", huge)
	}
}

func TestABodyThatDoesNotArriveIsNotWaitedFor(t *testing.T) {
	s := newSite(t, func(o *Options) { o.BodyTime = 50 * time.Millisecond })
	got := s.raw("POST / HTTP/1.1\r\nHost: "+s.addr+"\r\nAuthorization: Bearer "+secret+"\r\nContent-Length: 100\r\n\r\n{", 1)
	s.refused(got[0], http.StatusRequestTimeout, "INVALID_INPUT")
	if !got[0].closes {
		t.Error("the connection is kept")
	}
}

func TestTooManyRequestsUnderWayAreRefused(t *testing.T) {
	s := newSite(t, func(o *Options) { o.MaxInFlight = 1 })
	s.front.inFlight.Add(1)
	a := s.ask()
	s.refused(a, http.StatusServiceUnavailable, "SERVER_BUSY")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("%v", a.header)
	}
	s.front.inFlight.Add(-1)
	s.passes(s.ask())
}

func TestWithoutTokensEverybodyMayCall(t *testing.T) {
	none, err := tokens.Open(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *Options) { o.Tokens = none })
	r := s.passes(s.ask("-Authorization", "X-Gantry-Token: root"))
	if who, ok := Who(r.Header); ok {
		t.Errorf("it is of %+v", who)
	}
}
