package jobs

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// Watch yields the events to come of a job that the caller may see, until it is over. The
// error is that of [Service.Find].
func (s *Service) Watch(ctx context.Context, owner string, pid int) (iter.Seq2[runs.Event, error], error) {
	j, err := s.Find(ctx, owner, pid)
	if err != nil {
		return nil, err
	}
	v, err := s.o.Store.View(j.ID)
	if err != nil {
		return nil, err
	}
	return s.o.Store.Watch(ctx, j.ID, v.Seq), nil
}

// growthEvery is how often output is looked at for somebody who follows it.
const growthEvery = 250 * time.Millisecond

// Growth yields when a job has written more, at most four times a second, until it is
// over or ctx ends. The error is that of [Service.Find].
func (s *Service) Growth(ctx context.Context, owner string, pid int) (iter.Seq[struct{}], error) {
	j, err := s.Find(ctx, owner, pid)
	if err != nil {
		return nil, err
	}
	key := string(j.ID)
	seen, err := s.o.Supervisor.ReadFrom(key, math.MaxInt64, 0)
	if err != nil {
		return nil, gone(pid, err)
	}
	return func(yield func(struct{}) bool) {
		for total := seen.Total; ; {
			st, err := s.o.Supervisor.Status(key)
			if err != nil {
				return
			}
			now, err := s.o.Supervisor.ReadFrom(key, math.MaxInt64, 0)
			if err != nil || now.Total > total && !yield(struct{}{}) {
				return
			}
			total = now.Total
			if st.State.Ended() || pause(ctx, growthEvery) != nil {
				return
			}
		}
	}, nil
}
