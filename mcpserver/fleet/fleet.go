// Package fleet keeps a server for each of several places, such as the work trees of a
// repository, on ports of its own.
//
// [Fleet.Run] compares the places that there are with the servers that there are, again
// and again: a new place gets a server on the first free port, a place that has gone loses
// it, and its port is free. What a server does is the caller's: it gives a handler for a
// place and an address. A server is reached over loopback only, by IPv4 and, where there
// is such a thing, by IPv6. Whatever cannot be served is said in the state of its place,
// and tried again.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Place is what gets a server.
type Place struct {
	Path   string // absolute; it names the place
	Branch string // "" when detached
	Head   string // the commit, "" when there is none
}

// Service is what is served of a place.
type Service struct {
	Handler http.Handler
	Tools   []Tool
	Close   func(ctx context.Context) // ends sessions and streams; the handler is called no more afterwards
}

// Tool is a tool of a server.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of the arguments
}

// Options say what to keep.
type Options struct {
	List   func(ctx context.Context) ([]Place, error) // the places as they are, in order
	Sign   func() string                              // is another when the list may be; cheap
	Open   func(p Place, addr net.Addr) (Service, error)
	Server func(h http.Handler) *http.Server // makes a server of a handler
	Wrap   func(net.Listener) net.Listener   // is put around each listener; nil: nothing
	First  int                               // the first port
	Every  time.Duration                     // how often to look; a second when 0
	Log    *slog.Logger
}

const (
	defaultEvery = time.Second
	maxPorts     = 1000 // that are tried
	stopTime     = 5 * time.Second
)

// State is a place with its server.
type State struct {
	Place
	Running bool
	Port    int // 0 while it does not run
	Clients int // connections that are open
	Tools   []Tool
	Error   string // why it does not run, or what it failed of; a sentence
}

// Fleet is a server for each place. Its methods may be called by several goroutines.
type Fleet struct {
	o Options

	mu     sync.Mutex
	places []Place
	ships  map[string]*ship  // by path
	errors map[string]string // by path
}

// ship is one server.
type ship struct {
	service Service
	server  *http.Server
	port    int
	clients atomic.Int64
	done    sync.WaitGroup
}

// New returns a fleet without servers.
func New(o Options) *Fleet {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	return &Fleet{o: o, ships: map[string]*ship{}, errors: map[string]string{}}
}

// Run keeps the servers until ctx ends, and then ends them all. looked is called after
// each look, whether or not something has changed; it may be nil.
func (f *Fleet) Run(ctx context.Context, looked func()) {
	tick := time.NewTicker(f.o.Every)
	defer tick.Stop()
	defer f.stopAll()
	last, again := "", true
	for {
		if sign := f.o.Sign(); again || sign != last {
			last, again = sign, !f.look(ctx)
		}
		if looked != nil {
			looked()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look makes the servers those of the places, and reports whether all of them run.
func (f *Fleet) look(ctx context.Context) bool {
	places, err := f.o.List(ctx)
	if err != nil {
		if ctx.Err() == nil {
			f.o.Log.Warn("the work trees cannot be listed", "error", err.Error())
		}
		return false
	}
	f.mu.Lock()
	f.places = places
	var gone []*ship
	for path, s := range f.ships {
		if !slices.ContainsFunc(places, func(p Place) bool { return p.Path == path }) {
			gone = append(gone, s)
			delete(f.ships, path)
		}
	}
	f.mu.Unlock()
	f.stop(gone)
	all := true
	for _, p := range places {
		f.mu.Lock()
		_, runs := f.ships[p.Path]
		f.mu.Unlock()
		if !runs && ctx.Err() == nil {
			all = f.open(p) && all
		}
	}
	return all
}

// open gives a place its server, and reports whether that could be done.
func (f *Fleet) open(p Place) bool {
	listeners, port, err := f.listen()
	if err != nil {
		return f.failed(p, err)
	}
	service, err := f.o.Open(p, listeners[0].Addr())
	if err != nil {
		for _, l := range listeners {
			l.Close()
		}
		return f.failed(p, err)
	}
	s := &ship{service: service, port: port, server: f.o.Server(service.Handler)}
	s.server.ConnState = s.count
	for _, l := range listeners {
		if f.o.Wrap != nil {
			l = f.o.Wrap(l)
		}
		s.done.Go(func() { _ = s.server.Serve(l) }) // which ends when the server is closed
	}
	f.mu.Lock()
	f.ships[p.Path] = s
	delete(f.errors, p.Path)
	f.mu.Unlock()
	f.o.Log.Info("a work tree is served", "branch", p.Branch, "port", port)
	return true
}

func (f *Fleet) failed(p Place, err error) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if said := err.Error(); f.errors[p.Path] != said {
		f.errors[p.Path] = said
		f.o.Log.Warn("a work tree cannot be served", "branch", p.Branch, "error", said)
	}
	return false
}

// count counts the connections of a server.
func (s *ship) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.clients.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.clients.Add(-1)
	}
}

func (f *Fleet) stopAll() {
	f.mu.Lock()
	var all []*ship
	for path, s := range f.ships {
		all = append(all, s)
		delete(f.ships, path)
	}
	f.mu.Unlock()
	f.stop(all)
}

// stop ends servers, all at once. Their ports are free when it returns.
func (f *Fleet) stop(ships []*ship) {
	var all sync.WaitGroup
	for _, s := range ships {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), stopTime)
			defer cancel()
			s.service.Close(ctx)
			if s.server.Shutdown(ctx) != nil {
				_ = s.server.Close() // what does not end is cut off
			}
			s.done.Wait()
			f.o.Log.Info("a work tree is served no more", "port", s.port)
		})
	}
	all.Wait()
}

// States returns every place with its server, in the order of the list.
func (f *Fleet) States() []State {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]State, 0, len(f.places))
	for _, p := range f.places {
		st := State{Place: p, Error: f.errors[p.Path]}
		if s := f.ships[p.Path]; s != nil {
			st.Running, st.Port, st.Clients, st.Tools = true, s.port, int(max(0, s.clients.Load())), s.service.Tools
		}
		out = append(out, st)
	}
	return out
}

// Ports returns the ports that are served, sorted.
func (f *Fleet) Ports() (out []int) {
	for _, s := range f.States() {
		if s.Running {
			out = append(out, s.Port)
		}
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
