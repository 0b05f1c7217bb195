package runstest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// variant is a kind of run in the storm, with the commands that it is given, each
// when it pauses.
type variant struct {
	script   Script
	flags    []string
	commands []string
}

var variants = []variant{
	{Script{Items: three, WorkUS: 3000, Outcomes: map[string]string{"validate.1": "failed", "validate.2": "failed"}}, []string{"fix", "publish"}, nil},
	{Script{Items: three, WorkUS: 500}, nil, []string{"validate", "validate", "publish"}},
	{Script{Items: three, WorkUS: 500, Outcomes: map[string]string{"validate.1": "failed", "validate.2": "failed"}}, nil, []string{"fix", "validate", "publish"}},
	{Script{Items: []string{"a", "b", "c", "d", "e", "f"}, Flaky: map[string]int{"draft.1.b": 2, "plan.1": 1}}, []string{"publish"}, nil},
}

// storm is hosts that die and are replaced while clients use them, and all that was
// acknowledged to the clients.
type storm struct {
	*lab
	mu    sync.Mutex // guards hosts and acks
	hosts []*remote
	acks  []ack
}

// ack is a receipt that a client was given.
type ack struct {
	run     runs.ID
	receipt runs.Receipt
}

func testStorm(t *testing.T, o Options) {
	s := &storm{lab: newLab(t)}
	calm := s.host(hostConfig{})
	var want []ending
	for _, v := range variants {
		s.hosts = []*remote{calm}
		want = append(want, endingOf(s.whole(v, fmt.Sprint("calm-", len(want)))))
	}
	calm.close()

	s.hosts = nil
	for range o.Hosts {
		s.hosts = append(s.hosts, s.host(hostConfig{AdoptMS: 20}))
	}
	over := make(chan struct{})
	var clients sync.WaitGroup
	var ids []runs.ID
	for c := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-over:
					return
				default:
				}
				kind := (c + i) % len(variants)
				v := s.whole(variants[kind], fmt.Sprintf("%d-%d", c, i))
				if v == nil {
					return
				}
				if diff := cmp.Diff(want[kind], endingOf(v)); diff != "" {
					t.Errorf("run %s came to another end: %s", v.RunID, diff)
				}
				s.mu.Lock()
				ids = append(ids, v.RunID)
				s.mu.Unlock()
			}
		})
	}
	for range o.Kills {
		s.strike()
	}
	close(over)
	clients.Wait()
	for _, h := range s.hosts {
		h.close()
	}
	t.Logf("%d kills, %d runs, %d receipts", o.Kills, len(ids), len(s.acks))
	s.sound(ids...)
	s.kept()
}

// strike kills a host at a random moment and starts another in its place.
func (s *storm) strike() {
	<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) // the randomness of the moment
	i := rand.IntN(len(s.hosts))
	s.hosts[i].kill()
	h := s.host(hostConfig{AdoptMS: 20})
	s.mu.Lock()
	s.hosts[i] = h
	s.mu.Unlock()
}

func (s *storm) any() *remote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[rand.IntN(len(s.hosts))]
}

// insist calls hosts until one answers.
func insist[R any](s *storm, call func(*remote) (R, error)) (R, bool) {
	for {
		r, err := call(s.any())
		switch {
		case err == nil:
			return r, true
		case errors.Is(err, errDied), fault.Is(err, fault.IdempotencyInProgress):
			if s.t.Context().Err() == nil && !s.t.Failed() {
				continue
			}
		}
		s.t.Error(err)
		return r, false
	}
}

// whole takes a run from its start to its end, and returns nil after a failure of the test.
func (s *storm) whole(v variant, name string) *runs.View {
	r := Request(v.script, v.flags...)
	r.Once = &runs.Once{Key: "start-" + name, Hash: "1"}
	id, ok := insist(s, func(h *remote) (runs.ID, error) {
		id, _, err := h.start(r)
		return id, err
	})
	if !ok {
		return nil
	}
	for i, c := range v.commands {
		view, ok := s.rests(id)
		if !ok || view.State.Terminal() {
			return view
		}
		command := runs.Command{Type: c, Once: &runs.Once{Key: fmt.Sprintf("%d-%s", i, c), Hash: "1"}}
		sent, ok := insist(s, func(h *remote) (string, error) { return h.command(id, command) })
		if !ok {
			return nil
		}
		receipt, ok := insist(s, func(h *remote) (runs.Receipt, error) { return h.await(id, sent) })
		if !ok {
			return nil
		}
		s.mu.Lock()
		s.acks = append(s.acks, ack{id, receipt})
		s.mu.Unlock()
	}
	view, _ := s.rests(id)
	return view
}

// rests waits until a run is paused or over.
func (s *storm) rests(id runs.ID) (*runs.View, bool) {
	ctx, cancel := contextFor(s.t, 2*time.Minute)
	defer cancel()
	v, err := s.store.Until(ctx, id, func(v *runs.View) bool { return !v.Busy() })
	if err != nil {
		now, _ := s.store.View(id)
		s.t.Errorf("run %s does not come to rest: %v; it is %s", id, err, describe(now))
	}
	return v, err == nil
}

// kept checks that every receipt that was given stands in the run's journal.
func (s *storm) kept() {
	for _, a := range s.acks {
		v, err := s.store.View(a.run)
		if err != nil {
			s.t.Error(err)
			continue
		}
		c, ok := v.Command(a.receipt.CommandID)
		if !ok || c.Receipt == nil || cmp.Diff(*c.Receipt, a.receipt) != "" {
			s.t.Errorf("run %s: the receipt %+v was given, and %+v is kept", a.run, a.receipt, c.Receipt)
		}
	}
}
