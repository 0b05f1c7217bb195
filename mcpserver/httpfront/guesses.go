package httpfront

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// What an address may guess: so many tokens at once, then one at a time.
const (
	guessBurst = 20
	guessEvery = time.Second
)

const (
	maxAddresses = 10_000           // that are remembered
	forgetAfter  = 15 * time.Minute // the last request of an address
)

// guesses counts the tokens of each address that were not valid. When an address has used up
// its guesses, every token from it is refused unread, also a right one, or else guessing would
// go on; but those that were right before go on working, so that nobody locks out those with
// whom they share an address.
type guesses struct {
	mu    sync.Mutex
	by    map[string]*guesser
	swept time.Time
}

type guesser struct {
	left  *rate.Limiter
	known map[string]bool // names whose tokens were right
	used  time.Time
}

// vet takes note of a token that was right or not. It returns how long the address has to
// wait, or 0 when the finding holds.
func (g *guesses) vet(addr, name string, right bool, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.get(addr, now)
	if right && (who.known[name] || who.left.TokensAt(now) >= 1) {
		who.known[name] = true
		return 0
	}
	r := who.left.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if right || wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// get returns an address's account. g.mu is held.
func (g *guesses) get(addr string, now time.Time) *guesser {
	if now.Sub(g.swept) > time.Minute {
		g.swept = now
		for a, who := range g.by {
			if now.Sub(who.used) > forgetAfter {
				delete(g.by, a)
			}
		}
	}
	if g.by == nil {
		g.by = map[string]*guesser{}
	}
	who, ok := g.by[addr]
	if !ok && len(g.by) >= maxAddresses {
		addr = "" // the rest of the world has one account
		who, ok = g.by[addr]
	}
	if !ok {
		who = &guesser{left: rate.NewLimiter(rate.Every(guessEvery), guessBurst), known: map[string]bool{}}
		g.by[addr] = who
	}
	who.used = now
	return who
}
