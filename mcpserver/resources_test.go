package mcpserver_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/mcpserver"
)

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func withShelf(t *testing.T) (*rig, *shelf) {
	s := newShelf()
	return newRig(t, func(o *mcpserver.Options) { o.Resources = s }), s
}

func (r *rig) read(name string) (*mcp.ReadResourceResult, error) {
	return r.client.ReadResource(r.t.Context(), &mcp.ReadResourceParams{URI: "resource://run/r_12345678/" + name})
}

func TestReadingResources(t *testing.T) {
	r, _ := withShelf(t)
	r.connect("")
	text, err := r.read("text.md")
	if err != nil {
		t.Fatal(err)
	}
	if c := text.Contents[0]; !strings.HasPrefix(c.Text, "it is [REDACTED") || c.MIMEType != "text/markdown" || c.Blob != nil {
		t.Errorf("%+v", c)
	}
	picture, err := r.read("picture.png")
	if err != nil {
		t.Fatal(err)
	}
	if c := picture.Contents[0]; string(c.Blob) != "\x89P\x00\xff" || c.Text != "" || c.MIMEType != "image/png" {
		t.Errorf("%+v", c)
	}
	for name, code := range map[string]int64{"nothing.md": -32602, "huge.bin": -32602, "panic": -32603, "broken": -32603} {
		_, err := r.read(name)
		e, data := r.rpc(err)
		if name == "nothing.md" && e.Code == -32002 {
			continue // which of the two depends on the era
		}
		if e.Code != code || strings.Contains(e.Message+string(e.Data), "house") {
			t.Errorf("%s: %d %s %s", name, e.Code, e.Message, e.Data)
		}
		if name == "huge.bin" && data["hint"] != "read slices" {
			t.Errorf("the way on is lost: %s", e.Data)
		}
	}
	templates, err := r.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("%+v, %v", templates, err)
	}
}

func (r *rig) subscribe(uri string) {
	r.t.Helper()
	if err := r.client.Subscribe(r.t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) unsubscribe(uri string) {
	r.t.Helper()
	if err := r.client.Unsubscribe(r.t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
		r.t.Fatal(err)
	}
}

const (
	first  = "resource://run/r_12345678/first"
	second = "resource://run/r_12345678/second"
)

func TestASubscriberIsToldOfEachChangeUntilItLeaves(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2025-11-25")
	r.subscribe(first)
	r.subscribe(second)
	r.subscribe(first) // twice is once
	for _, uri := range []string{first, second, first} {
		s.stream(uri) <- struct{}{}
		if got := <-r.updated; got != uri {
			t.Errorf("told of %s, want %s", got, uri)
		}
	}
	r.unsubscribe(first)
	if got := <-s.ended; got != first {
		t.Errorf("the watch of %s ended", got)
	}
	if s.started != 3 && s.started != 2 {
		t.Errorf("%d watches were started", s.started)
	}
}

// Leaving and coming back at once must not meet the watch that is just ending.
func TestWhoComesBackAtOnceIsToldToo(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2025-11-25")
	for range 200 {
		r.subscribe(first)
		r.unsubscribe(first)
		r.subscribe(first)
		s.stream(first) <- struct{}{}
		<-r.updated
		r.unsubscribe(first)
	}
}

func TestAResourceThatEndsIsForgottenAndCanBeWatchedAnew(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2025-11-25")
	r.subscribe(first)
	close(s.stream(first))
	<-s.ended
	s.mu.Lock()
	delete(s.streams, first)
	s.mu.Unlock()
	for { // the watch is forgotten soon after it ended
		r.subscribe(first)
		if stream := s.stream(first); stream != nil {
			stream <- struct{}{}
			break
		}
		r.unsubscribe(first)
	}
	<-r.updated
}

func TestSubscribingToNothingIsRefused(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2025-11-25")
	err := r.client.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "resource://run/r_none0000/x"})
	r.rpc(err)
	if s.started != 0 {
		t.Error("it is watched")
	}
}

func TestASessionThatEndsLeavesEverything(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2025-11-25")
	r.subscribe(first)
	r.subscribe(second)
	_ = r.client.Close()
	<-s.ended
	<-s.ended
	if s.watches != 0 {
		t.Errorf("%d watches are left", s.watches)
	}
}

// The era without sessions subscribes by a request that stays open, and the client
// does not wait for its acknowledgement.
func TestListeningInTheNewEra(t *testing.T) {
	r, s := withShelf(t)
	r.connect("2026-07-28")
	r.subscribe(first)
	for told := false; !told; {
		stream := s.stream(first)
		if stream == nil {
			runtime.Gosched()
			continue
		}
		select {
		case stream <- struct{}{}:
		case got := <-r.updated:
			if told = true; got != first {
				t.Errorf("told of %s", got)
			}
		}
	}
	r.unsubscribe(first)
	<-s.ended
}
