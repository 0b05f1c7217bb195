package model

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// The tries of one endpoint, and the waits between them.
const (
	tries    = 4
	baseWait = time.Second
	maxWait  = time.Minute
)

// Session is what one run may ask. It may be used concurrently. Close it.
type Session struct {
	o       Options
	callers []*caller
	cache   *cache
	folder  *artifacts.Folder
	slots   chan struct{}

	mu     sync.Mutex
	ledger *ledger
	over   error // what ended it: nothing more is asked, what is under way may finish
}

// caller talks to one endpoint.
type caller struct {
	at    Endpoint
	key   string
	agent string
	http  *http.Client

	mu      sync.Mutex
	down    bool            // it failed as often as it may: from now on it has one try
	without map[string]bool // members of a request that its model does not take
}

// Open opens a session. An endpoint that the program's configuration does not list is
// NETWORK_BLOCKED, as is a variable that it does not; one that is not set CONFIG_INVALID.
func Open(o Options) (*Session, error) {
	s := &Session{o: o, slots: make(chan struct{}, max(o.Concurrency, 1))}
	if s.o.Wait == nil {
		s.o.Wait = wait
	}
	for _, at := range o.Endpoints {
		c := &caller{at: at, agent: o.Agent}
		if err := o.Egress.Check(at.BaseURL); err != nil {
			return nil, err
		}
		if at.KeyEnv != "" {
			var err error
			if c.key, err = o.Egress.Secret(at.KeyEnv); err != nil {
				return nil, err
			}
		}
		c.http = o.Egress.Client(at.Timeout)
		s.callers = append(s.callers, c)
	}
	var err error
	if s.folder, err = artifacts.Open(o.Run); err != nil {
		return nil, err
	}
	if s.ledger, err = openLedger(s.folder); err == nil {
		s.cache, err = openCache(o.Cache)
	}
	if err != nil {
		return nil, errors.Join(err, s.folder.Close())
	}
	return s, nil
}

// Close releases what the session holds. No question may be under way.
func (s *Session) Close() error {
	for _, c := range s.callers {
		c.http.CloseIdleConnections()
	}
	return errors.Join(s.cache.close(), s.folder.Close())
}

// Ask returns the answer to the messages. tell is given the events of the calls that are
// made, which are none when the answer is known.
//
// The error is an [*Unanswered] when no endpoint gave a usable answer. It is a fault that
// ends the run when the budgets are spent (BUDGET_EXCEEDED_LLM_CALLS,
// BUDGET_EXCEEDED_LLM_TOKENS) or an endpoint says that the configuration is wrong
// (SECTION_WRITER_LLM_FAILURE).
func (s *Session) Ask(ctx context.Context, messages []Message, tell func(runs.Draft)) (Answer, error) {
	questions := make([]question, len(s.callers))
	for i, c := range s.callers {
		q := question{caller: c, request: s.request(c.at, messages)}
		var err error
		if q.key, err = q.request.key(c.at); err != nil {
			return Answer{}, err
		}
		if a, ok := s.cache.get(q.key); ok {
			return a, nil
		}
		questions[i] = q
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return Answer{}, fault.From(context.Cause(ctx))
	}
	if err := s.ended(); err != nil {
		return Answer{}, err
	}
	a, err := s.try(ctx, questions, tell)
	var silent *Unanswered
	if err != nil && ctx.Err() == nil && !errors.As(err, &silent) {
		s.stop(err)
	}
	return a, err
}

func (s *Session) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

func (s *Session) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = err
	}
}

// try asks one endpoint after the other.
func (s *Session) try(ctx context.Context, questions []question, tell func(runs.Draft)) (Answer, error) {
	var last *failure
	for _, q := range questions {
		a, err := s.insist(ctx, q, tell)
		if !errors.As(err, &last) {
			return a, err
		}
		if !last.passing {
			return Answer{}, final(q.caller.at, last)
		}
	}
	if last == nil {
		return Answer{}, &Unanswered{Why: "no endpoint is configured"}
	}
	return Answer{}, &Unanswered{Why: last.why}
}

// question is a request to one endpoint.
type question struct {
	caller  *caller
	request request
	key     string
}

// final turns a failure that will not pass into what the run makes of it. A wrong
// address, model or key is wrong for each page; another refusal is this question's.
func final(at Endpoint, f *failure) error {
	switch f.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return refused(at, f.status, f.why)
	}
	if f.blocked != nil {
		return f.blocked
	}
	return &Unanswered{Why: f.why}
}

// insist asks one endpoint until it answers, refuses, or has failed often enough. The
// error is a *failure, or what ends the run.
func (s *Session) insist(ctx context.Context, q question, tell func(runs.Draft)) (Answer, error) {
	for try := 1; ; try++ {
		a, err := s.once(ctx, q, tell)
		var f *failure
		switch {
		case errors.As(err, &f) && f.param != "" && q.caller.adapt(f.param):
			try-- // it says what it wants instead
			continue
		case f == nil || !f.passing:
			return a, err
		}
		if try >= tries || q.caller.isDown() {
			q.caller.giveUp()
			return Answer{}, f
		}
		pause := min(baseWait<<(try-1), maxWait)
		if f.after > 0 {
			pause = f.after
		}
		if err := s.o.Wait(ctx, pause); err != nil {
			return Answer{}, fault.From(err)
		}
	}
}

func (c *caller) isDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down
}

func (c *caller) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
