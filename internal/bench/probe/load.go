package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Load says which calls to make.
type Load struct {
	Tool     string
	Args     json.RawMessage
	Calls    int           // in all
	Duration time.Duration // if set, calls are made for this long instead
	InFlight int           // at once
	Warmup   int           // calls before those that count
	Timeout  time.Duration // of one call
	Progress bool          // ask for progress
}

// Measured is what a load took.
type Measured struct {
	Took      []time.Duration // of each call
	Wall      time.Duration
	Failed    map[Outcome]int64
	FirstText string // of the first call that failed
}

// Run makes the calls. Only a warm-up without any answer is an error.
func (c *Client) Run(ctx context.Context, l Load) (Measured, error) {
	call := func() Answer {
		ctx, cancel := context.WithTimeout(ctx, l.Timeout)
		defer cancel()
		return c.Call(ctx, l.Tool, l.Args, l.Progress)
	}
	for range l.Warmup {
		if a := call(); a.Outcome == TransportFailed {
			return Measured{}, fmt.Errorf("warm-up call: %s", a.Text)
		}
	}
	c.progress.Store(0)
	begin := time.Now()
	var started atomic.Int64
	more := func() bool {
		if l.Duration > 0 {
			return time.Since(begin) < l.Duration
		}
		return started.Add(1) <= int64(l.Calls)
	}
	each := make([]Measured, l.InFlight)
	var all sync.WaitGroup
	for i := range each {
		all.Go(func() { each[i] = c.work(ctx, call, more) })
	}
	all.Wait()
	return merge(each, time.Since(begin)), nil
}

// work is one of the callers.
func (c *Client) work(ctx context.Context, call func() Answer, more func() bool) Measured {
	mine := Measured{Failed: map[Outcome]int64{}}
	for ctx.Err() == nil && more() {
		began := time.Now()
		a := call()
		mine.Took = append(mine.Took, time.Since(began))
		if a.Outcome != OK {
			mine.Failed[a.Outcome]++
			if mine.FirstText == "" {
				mine.FirstText = a.Text
			}
		}
		if a.Outcome == TransportFailed && c.Broken() {
			break
		}
	}
	return mine
}

func merge(each []Measured, wall time.Duration) Measured {
	all := Measured{Wall: wall, Failed: map[Outcome]int64{}}
	for _, m := range each {
		all.Took = append(all.Took, m.Took...)
		for outcome, n := range m.Failed {
			all.Failed[outcome] += n
		}
		if all.FirstText == "" {
			all.FirstText = m.FirstText
		}
	}
	return all
}
