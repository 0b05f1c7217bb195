package httpfront

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gantry-run/gantry/mcpserver/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secret   = "0123456789abcdef"
	readOnly = "read0123456789ab"
	hostile  = "hostile-text-of-the-request"
)

// site is a server behind the front, at a real address.
type site struct {
	t     *testing.T
	front *Front
	addr  string
	now   time.Time
	seen  chan *http.Request // what came through
}

// newSite serves a handler that says "served" and keeps what it was asked.
func newSite(t *testing.T, change func(*Options)) *site {
	t.Helper()
	known, err := tokens.Open(tokens.Options{Text: "ci:" + secret + ";viewer:" + readOnly + ":read"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, addr: l.Addr().String(), now: time.Unix(1_800_000_000, 0), seen: make(chan *http.Request, 1000)}
	_, port, _ := net.SplitHostPort(s.addr)
	o := Options{Tokens: known, Hosts: []string{s.addr, "localhost:" + port, "[::1]:" + port, "gantry.example"}, Now: func() time.Time { return s.now }}
	if change != nil {
		change(&o)
	}
	s.front = New(o)
	srv := &http.Server{
		Handler: s.front.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.seen <- r
			_, _ = io.WriteString(w, "served")
		}), tokens.ScopeRead), ReadHeaderTimeout: patience, MaxHeaderBytes: MaxHead,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(Listen(l)) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
	return s
}

// patience is how long anything may take; nothing waits for it when all is well.
const patience = 30 * time.Second

// raw sends bytes as they are and returns the answers that come until the server closes the
// connection, or as many as are wanted.
func (s *site) raw(text string, want int) (answers []answer) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for len(answers) < want {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			break
		}
		body, _ := io.ReadAll(r.Body)
		answers = append(answers, answer{r.StatusCode, r.Header, string(body), r.Close})
	}
	return answers
}

type answer struct {
	status int
	header http.Header
	body   string
	closes bool
}

// ask sends a request with a good token and host, changed by lines "Name: value"; "-Name"
// leaves one out.
func (s *site) ask(lines ...string) answer {
	s.t.Helper()
	head := map[string]string{"Host": s.addr, "Authorization": "Bearer " + secret}
	var extra []string
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ": ")
		if _, there := head[name]; there {
			head[name] = value
		} else if ok {
			extra = append(extra, line)
		} else {
			delete(head, strings.TrimPrefix(line, "-"))
		}
	}
	text := "POST /path?q=" + hostile + " HTTP/1.1\r\n"
	for name, value := range head {
		text += name + ": " + value + "\r\n"
	}
	text += strings.Join(append(extra, "Content-Length: 2", "", "{}"), "\r\n")
	got := s.raw(text, 1)
	if len(got) != 1 {
		s.t.Fatalf("%v: no answer", lines)
	}
	return got[0]
}

// refused checks an answer that refuses: a JSON-RPC error that repeats nothing.
func (s *site) refused(a answer, status int, code string) {
	s.t.Helper()
	var b struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int
			Message string
			Data    struct {
				Code string `json:"error_code"`
				Hint string
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &b); err != nil {
		s.t.Errorf("%d: the body is no JSON: %q", a.status, a.body)
		return
	}
	if a.status != status || b.Error.Data.Code != code || b.Version != "2.0" || string(b.ID) != "null" || b.Error.Code == 0 || b.Error.Message == "" || b.Error.Data.Hint == "" {
		s.t.Errorf("%d %s, want %d %s", a.status, a.body, status, code)
	}
	if strings.Contains(a.body, hostile) || strings.Contains(a.body, secret) {
		s.t.Errorf("the request is repeated: %s", a.body)
	}
	if len(s.seen) != 0 {
		s.t.Error("the request came through")
	}
}

func (s *site) passes(a answer) *http.Request {
	s.t.Helper()
	if a.status != http.StatusOK || a.body != "served" {
		s.t.Fatalf("%d %s", a.status, a.body)
	}
	return <-s.seen
}
