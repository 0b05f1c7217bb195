package proc

import (
	"context"
	"time"
)

// pollEnd looks again and again until the process is over, where the system has no
// event for it.
func pollEnd(ctx context.Context, id identity) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for id.alive() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
