package runs

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Appends is how long this process took to append to the journals of the runs of a
// kind, the flush to disk included. Counts only grow.
type Appends struct {
	Kind    Kind
	Count   uint64
	Sum     time.Duration
	Buckets []uint64 // how many took at most the bound of [AppendBounds] and more than the one before; one more for those beyond
}

// AppendBounds returns the upper bounds of the buckets of [Appends], ascending.
func AppendBounds() []time.Duration {
	return []time.Duration{
		50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond,
		2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 250 * time.Millisecond, time.Second,
	}
}

// Appends returns the figures so far, sorted by kind. Kinds without any are left out.
func (s *Store) Appends() []Appends { return s.appends.read() }

// appendTimes gathers Appends. The zero value is ready.
type appendTimes struct {
	mu     sync.Mutex
	byKind map[Kind]*Appends
	bounds []time.Duration
}

func (t *appendTimes) add(kind Kind, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKind == nil {
		t.byKind, t.bounds = map[Kind]*Appends{}, AppendBounds()
	}
	a := t.byKind[kind]
	if a == nil {
		a = &Appends{Kind: kind, Buckets: make([]uint64, len(t.bounds)+1)}
		t.byKind[kind] = a
	}
	at, _ := slices.BinarySearch(t.bounds, took)
	a.Buckets[at]++
	a.Count++
	a.Sum += took
}

func (t *appendTimes) read() []Appends {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Appends
	for _, a := range t.byKind {
		b := *a
		b.Buckets = slices.Clone(a.Buckets)
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Appends) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}
