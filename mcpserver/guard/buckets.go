package guard

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// buckets holds a token bucket for each client: a burst of a minute's calls, then
// one at a time.
type buckets struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	byKey map[string]*bucket
	swept time.Time
}

type bucket struct {
	tokens *rate.Limiter
	used   time.Time
}

// take takes a token. It returns how long to wait when there is none; then nothing
// is taken.
func (b *buckets) take(key string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	// The lock is held to the end: a reservation that another one has overtaken
	// cannot be given back.
	tokens := b.get(key, now)
	r := tokens.ReserveN(now, 1)
	if wait := r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return wait
	}
	return 0
}

// get returns the client's bucket. b.mu is held.
func (b *buckets) get(key string, now time.Time) *rate.Limiter {
	if b.byKey == nil {
		b.byKey = map[string]*bucket{}
	}
	b.sweep(now)
	kept, ok := b.byKey[key]
	if !ok {
		kept = &bucket{tokens: rate.NewLimiter(b.limit, b.burst)}
		b.byKey[key] = kept
	}
	kept.used = now
	return kept.tokens
}

// sweep evicts the buckets that have been full again for a minute: a new one is
// no different.
func (b *buckets) sweep(now time.Time) {
	if now.Sub(b.swept) < time.Minute {
		return
	}
	b.swept = now
	for key, kept := range b.byKey {
		if now.Sub(kept.used) > 2*time.Minute {
			delete(b.byKey, key)
		}
	}
}
