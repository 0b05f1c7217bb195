package agents

import (
	"context"
	"sync"
	"time"
)

// Prober asks CLIs whether they work, all at once, and remembers the answers for a minute:
// each costs the start of a program, and who lists agents does so often. It may be used by
// several goroutines.
type Prober struct {
	clis Registry
	env  []string

	mu    sync.Mutex
	asked time.Time
	known []Probe
}

// remembered is how long what a CLI answered counts.
const remembered = time.Minute

// NewProber returns a prober of the CLIs in the server's environment. It asks nothing yet.
func NewProber(clis Registry, env []string) *Prober { return &Prober{clis: clis, env: env} }

// Probes returns what is known of each CLI, in the order of the registry. When ctx ends
// early what has not answered does not work, and is asked again next time.
func (p *Prober) Probes(ctx context.Context) []Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && time.Since(p.asked) < remembered {
		return p.known
	}
	all := make([]Probe, len(p.clis))
	var answers sync.WaitGroup
	for i, c := range p.clis {
		answers.Go(func() { all[i] = c.Probe(ctx, p.env) })
	}
	answers.Wait()
	if ctx.Err() == nil {
		p.known, p.asked = all, time.Now()
	}
	return all
}

// Working returns the CLIs that work, in the order of the registry.
func (p *Prober) Working(ctx context.Context) (out []CLI) {
	for i, probe := range p.Probes(ctx) {
		if probe.Works {
			out = append(out, p.clis[i])
		}
	}
	return out
}
