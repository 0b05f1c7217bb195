package jobs

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// closeTime is how long a program that ends waits for the ends of its jobs. Their
// processes are over sooner.
const closeTime = 2500 * time.Millisecond

// Close ends the jobs that end with this program, and waits until those among the runs
// that driven returns are recorded, but not for long. It returns the runs that go on
// without this program: all that are driven and are no jobs, and the jobs that are kept.
func (s *Service) Close(driven func() []runs.ID) (goOn []runs.ID, err error) {
	err = s.o.Supervisor.Close()
	over := time.Now().Add(closeTime)
	for {
		goOn = nil
		left := 0
		for _, id := range driven() {
			if s.endsHere(id) {
				left++
			} else {
				goOn = append(goOn, id)
			}
		}
		if left == 0 || time.Now().After(over) {
			return goOn, err
		}
		_ = pause(context.Background(), 5*time.Millisecond) // which never ends early
	}
}

// endsHere reports whether a run is a job that was not to be kept, or is over.
func (s *Service) endsHere(id runs.ID) bool {
	v, err := s.o.Store.View(id)
	if err != nil || v.Kind != runs.Target {
		return false
	}
	in, err := inputOf(v)
	return v.State.Terminal() || err == nil && !in.Keep
}

// Tend finds out what became of the processes of earlier programs, and gives orphans a
// supervisor; what is found becomes an event of its run through whoever drives it. From
// then on it removes the output of the oldest ended jobs, soon and every minute. It
// returns when ctx ends; failed is told what went wrong, which stops nothing.
func (s *Service) Tend(ctx context.Context, failed func(error)) {
	_, err := s.o.Supervisor.Reconcile(ctx)
	if pause(ctx, calm) != nil {
		return
	}
	for {
		if err == nil {
			err = s.collect(ctx)
		}
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if err = pause(ctx, collectEvery); err != nil {
			return
		}
	}
}

// calm is how long a new program leaves old output alone: finding it takes the index, and
// somebody may be waiting for the first answer of the program.
const calm = 200 * time.Millisecond

// collectEvery is how often old output is looked for.
const collectEvery = time.Minute
