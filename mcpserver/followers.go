package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
)

// maxWatched bounds the resources that are watched at once.
const maxWatched = 1000

// followers watches the resources that sessions subscribe to, each once, however
// many do. A watch ends when its last subscriber leaves, or when the resource cannot
// change any more. A session leaves everything when it ends.
type followers struct {
	server  *server
	updated func(context.Context, *mcp.ResourceUpdatedNotificationParams) error

	mu      sync.Mutex
	watched map[string]*watch           // by URI
	known   map[*mcp.ServerSession]bool // sessions whose end is awaited
}

type watch struct {
	sessions map[*mcp.ServerSession]bool
	stop     context.CancelFunc
}

func newFollowers(s *server) *followers {
	return &followers{server: s, watched: map[string]*watch{}, known: map[*mcp.ServerSession]bool{}}
}

func (f *followers) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	who, uri := resourceCaller(req.Session, subscriber(ctx, req)), req.Params.URI
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	err := f.server.o.Guard.Read(who, func() error {
		changes, err := f.server.o.Resources.Changes(follow, who, uri) // also says whether the caller may
		if err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		w, ok := f.watched[uri]
		if !ok && len(f.watched) >= maxWatched {
			return fault.Retry(fault.ServerBusy, "%d resources are watched already", maxWatched)
		}
		if ok {
			stop()
		} else {
			w = &watch{sessions: map[*mcp.ServerSession]bool{}, stop: stop}
			f.watched[uri] = w
			go func() {
				for range changes {
					// Who is gone leaves by itself; nobody is told of what does not arrive.
					_ = f.updated(follow, &mcp.ResourceUpdatedNotificationParams{URI: uri})
				}
				f.end(w, uri)
			}()
		}
		w.sessions[req.Session] = true
		f.await(req.Session)
		return nil
	})
	if err != nil {
		stop()
		return f.server.resourceError(uri, err)
	}
	return nil
}

// subscriber returns who subscribes. The SDK says it with the request, except in the era
// without sessions, where only the context knows.
func subscriber(ctx context.Context, req *mcp.SubscribeRequest) *mcp.RequestExtra {
	if req.Extra != nil {
		return req.Extra
	}
	return &mcp.RequestExtra{TokenInfo: auth.TokenInfoFromContext(ctx)}
}

// await makes a session leave everything when it ends. f.mu is held.
func (f *followers) await(session *mcp.ServerSession) {
	if f.known[session] {
		return
	}
	f.known[session] = true
	go func() {
		_ = session.Wait() // whichever way it ends
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.known, session)
		for uri := range f.watched {
			f.leave(uri, session)
		}
	}()
}

func (f *followers) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(req.Params.URI, req.Session)
	return nil
}

// leave ends a subscription. Who subscribes after the last one left gets a new watch.
// f.mu is held.
func (f *followers) leave(uri string, session *mcp.ServerSession) {
	w, ok := f.watched[uri]
	if !ok || !w.sessions[session] {
		return
	}
	if delete(w.sessions, session); len(w.sessions) == 0 {
		w.stop()
		delete(f.watched, uri)
	}
}

// end forgets a watch whose resource does not change any more.
func (f *followers) end(w *watch, uri string) {
	w.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watched[uri] == w {
		delete(f.watched, uri)
	}
}
