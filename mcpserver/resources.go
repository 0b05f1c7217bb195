package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
)

func (s *server) offerResources(m *mcp.Server) {
	for _, t := range s.o.Resources.Templates() {
		m.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				c, err := s.o.Resources.Read(ctx, resourceCaller(req.Session, req.Extra), req.Params.URI)
				if err != nil {
					return nil, s.resourceError(req.Params.URI, err)
				}
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
					{URI: req.Params.URI, MIMEType: c.MIMEType, Text: s.o.Guard.Mask(c.Text), Blob: c.Blob},
				}}, nil
			})
	}
}

func resourceCaller(session *mcp.ServerSession, extra *mcp.RequestExtra) guard.Caller {
	return caller(&mcp.CallToolRequest{Session: session, Extra: extra})
}

func (s *server) resourceError(uri string, err error) error {
	f := s.o.Guard.Present(err)
	switch f.Code {
	case fault.RunNotFound, fault.ArtifactNotFound, fault.InvalidInput:
		return mcp.ResourceNotFoundError(uri)
	}
	code, _ := guard.Style(nil, f)
	return rpcError(code, nil, f)
}

// followers watches the resources that sessions subscribe to, each once, however
// many do. A watch ends when its last subscriber leaves, or when the resource cannot
// change any more.
type followers struct {
	server  *server
	updated func(context.Context, *mcp.ResourceUpdatedNotificationParams) error

	mu      sync.Mutex
	watched map[string]*watch // by URI
}

type watch struct {
	sessions map[*mcp.ServerSession]bool
	stop     context.CancelFunc
}

func (f *followers) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	changes, err := f.server.o.Resources.Changes(follow, resourceCaller(req.Session, req.Extra), uri)
	if err != nil {
		stop()
		return f.server.resourceError(uri, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if w, ok := f.watched[uri]; ok {
		stop()
		f.join(w, uri, req.Session)
		return nil
	}
	w := &watch{sessions: map[*mcp.ServerSession]bool{}, stop: stop}
	f.watched[uri] = w
	f.join(w, uri, req.Session)
	go func() {
		for range changes {
			// Who is gone leaves by itself; nobody is told of what does not arrive.
			_ = f.updated(follow, &mcp.ResourceUpdatedNotificationParams{URI: uri})
		}
		f.end(w, uri)
	}()
	return nil
}

// join adds a session to a watch until it ends. f.mu is held.
func (f *followers) join(w *watch, uri string, session *mcp.ServerSession) {
	if w.sessions[session] {
		return
	}
	w.sessions[session] = true
	go func() {
		_ = session.Wait() // whichever way it ends
		f.leave(uri, session)
	}()
}

func (f *followers) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	f.leave(req.Params.URI, req.Session)
	return nil
}

func (f *followers) leave(uri string, session *mcp.ServerSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w, ok := f.watched[uri]
	if !ok || !w.sessions[session] {
		return
	}
	if delete(w.sessions, session); len(w.sessions) == 0 {
		w.stop()
	}
}

func (f *followers) end(w *watch, uri string) {
	w.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watched[uri] == w {
		delete(f.watched, uri)
	}
}
