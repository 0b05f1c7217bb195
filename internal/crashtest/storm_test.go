package crashtest

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// storm is two servers on one state directory, clients that use them, and somebody
// who kills.
type storm struct {
	*lab
	repo, site string
	want       map[string]tree // what undisturbed runs of each scenario come to
	slots      []chan *server  // each holds the server of a slot, or is empty while it has none
	over       chan struct{}   // closed when nobody is killed any more

	mu    sync.Mutex
	dice  *rand.Rand
	kills int
	story []told
}

// told is a run that was acknowledged, and what else was.
type told struct {
	id, scenario string
	cancelled    bool
	pr           *opened
}

// opened is the answer of launch_open_pr.
type opened struct {
	URL    string `json:"pr_url"`
	Branch string `json:"branch"`
	Commit string `json:"commit_sha"`
}

const clients = 3

func TestKilledAtAnyMomentNothingAcknowledgedIsLost(t *testing.T) {
	kills, seed := int(envInt(t, "GANTRY_KILLS", 40)), uint64(envInt(t, "GANTRY_SEED", time.Now().UnixNano()))
	t.Logf("GANTRY_KILLS=%d GANTRY_SEED=%d", kills, seed)
	s := newStorm(t, seed)
	calm := s.calm()
	began := time.Now()
	for i := range s.slots {
		s.slots[i] <- s.serve()
	}
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() { s.client(c) })
	}
	s.killUntil(kills, calm)
	close(s.over)
	all.Wait()
	for _, slot := range s.slots {
		(<-slot).leave()
	}
	t.Logf("%d kills in %v, over %d runs; an undisturbed one takes %v", s.kills, time.Since(began).Round(time.Second), len(s.runs()), calm.Round(time.Millisecond))
	s.checkAll()
}

func newStorm(t *testing.T, seed uint64) *storm {
	s := &storm{
		lab: newLab(t), over: make(chan struct{}), want: map[string]tree{}, dice: rand.New(rand.NewPCG(seed, 0)),
		slots: []chan *server{make(chan *server, 1), make(chan *server, 1)},
	}
	s.repo, s.site = s.goRepo("product"), s.siteRepo("site.git")
	return s
}

// calm runs each scenario once without disturbance, keeps what it comes to, and
// returns how long a launch takes.
func (s *storm) calm() (took time.Duration) {
	for _, slot := range s.slots {
		slot <- s.serve()
	}
	c := &client{storm: s, name: "calm", calm: true}
	for _, sc := range scenarios() {
		began := time.Now()
		if id := sc.play(c); sc.name == "unasked" {
			took = time.Since(began)
			s.want[sc.name] = s.outcome(id)
		} else if id != "" && sc.same == "" {
			s.want[sc.name] = s.outcome(id)
		}
	}
	for _, slot := range s.slots {
		(<-slot).leave()
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
	return took
}

// roll returns a random number below n.
func (s *storm) roll(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.IntN(n)
}

// moment returns after a random time of at most d.
func (s *storm) moment(d time.Duration) { <-time.After(time.Duration(s.roll(int(d)))) }

func (s *storm) killed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills++
}

func (s *storm) killsDone() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kills
}

// killUntil kills at random moments: a server, a worker, or everything at once, as
// the end of a container does.
func (s *storm) killUntil(kills int, calm time.Duration) {
	for s.killsDone() < kills {
		s.moment(calm)
		slot := s.slots[s.roll(len(s.slots))]
		switch dice := s.roll(100); {
		case dice < 65:
			(<-slot).kill()
			s.killed()
			slot <- s.serve()
		case dice < 80:
			s.killEverything()
		default:
			s.handOver(slot, calm)
		}
	}
}

// killEverything kills all processes of the lab, git too, and at one moment: a server
// that outlived its git by a millisecond would record a failure of it.
func (s *storm) killEverything() {
	var dead []*server
	for _, slot := range s.slots {
		dead = append(dead, <-slot)
	}
	all := s.processes("")
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range all {
			syscall.Kill(pid, sig)
		}
	}
	s.killed()
	for i, slot := range s.slots {
		dead[i].kill()
		slot <- s.serve()
	}
}

// handOver lets a server go in order, so that a worker takes its runs, and kills the
// worker.
func (s *storm) handOver(slot chan *server, calm time.Duration) {
	(<-slot).leave()
	slot <- s.serve()
	s.moment(calm / 2)
	for _, pid := range s.processes("worker") {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			s.killed()
		}
	}
}

// client plays scenarios until the storm is over.
type client struct {
	*storm
	name string
	calm bool
	n    int // scenarios played
	keys int
}

func (s *storm) client(number int) {
	c := &client{storm: s, name: string(rune('a' + number))}
	list := scenarios()
	for {
		select {
		case <-s.over:
			return
		default:
		}
		sc := list[(number+c.n)%len(list)]
		c.n++
		id := sc.play(c)
		if id == "" {
			continue
		}
		if same := sc.same; same != "" {
			sc.name = same
		}
		if want, ok := s.want[sc.name]; ok {
			compare(s.t, sc.name+" "+id, want, s.outcome(id))
		}
	}
}

// tell remembers what was acknowledged.
func (c *client) tell(what told) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.story = append(c.story, what)
}

// patience is how long a client asks for one thing.
const patience = 90 * time.Second

// ask calls a tool until it is answered, of whichever server.
func (c *client) ask(tool string, a args, out any) error {
	deadline := time.Now().Add(patience)
	for {
		slot := c.slots[c.roll(len(c.slots))]
		s := <-slot
		slot <- s // others use it too
		err := s.call(tool, a, out)
		var r *refusal
		if errors.As(err, &r) && !r.Data.Retryable || err == nil || errors.Is(err, errSilent) {
			return err
		}
		if time.Now().After(deadline) {
			return err
		}
		c.moment(30 * time.Millisecond)
	}
}

// until asks for the status of a run until it is as wanted.
func (c *client) until(id string, enough func(status) bool) (st status, ok bool) {
	deadline := time.Now().Add(patience)
	for {
		st = status{}
		if err := c.ask("get_run_status", args{"run_id": id}, &st); err != nil {
			c.t.Errorf("status of %s, which was acknowledged: %v", id, err)
			return st, false
		}
		if !st.Chain.Verified {
			c.t.Errorf("the chain of %s is broken at %d", id, st.Chain.BadSeq)
			return st, false
		}
		if enough(st) {
			return st, true
		}
		if time.Now().After(deadline) || st.State == "FAILED" {
			journal, _ := os.ReadFile(filepath.Join(c.folder(id), "events.ndjson"))
			c.t.Errorf("run %s stays in %s: %s", id, st.State, tail(journal, 2000))
			return st, false
		}
		c.moment(60 * time.Millisecond)
	}
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
