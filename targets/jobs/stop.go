package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Stopped says how a job was stopped.
type Stopped struct {
	PID     int
	Status  string // graceful, killed or failed
	Message string // the same as a sentence
}

// recordTime is how long a stop waits for its driver to record the end.
const recordTime = time.Second

// Stop ends a job and all that it started: SIGTERM, and SIGKILL after the grace, which
// may be 0. It returns when nothing is left. A job that has ended is ILLEGAL_STATE,
// unless it was ended by a stop and this one, with its key, may be the same.
func (s *Service) Stop(ctx context.Context, a Ask, pid int, grace time.Duration) (Stopped, error) {
	j, err := s.Find(ctx, a.Owner, pid)
	if err != nil {
		return Stopped{}, err
	}
	if err := s.remember(a); err != nil {
		return Stopped{}, err
	}
	return s.stop(ctx, j, grace, a.Once != nil)
}

// StopJob is [Service.Stop] for a job that the caller has found.
func (s *Service) StopJob(ctx context.Context, j Job, grace time.Duration) (Stopped, error) {
	return s.stop(ctx, j, grace, false)
}

// stop ends a job. again says that one that was stopped already is no error.
func (s *Service) stop(ctx context.Context, j Job, grace time.Duration, again bool) (Stopped, error) {
	st, err := s.o.Supervisor.Stop(ctx, string(j.ID), max(grace, 1))
	if err != nil {
		return Stopped{}, gone(j.PID, err)
	}
	if j.State != Running && (!again || st.StoppedBy != proc.ByRequest) || st.Stopped == "" {
		return Stopped{}, fault.New(fault.IllegalState, "Job with PID %d is not running", j.PID).WithHint("Use 'status' to see the jobs that run")
	}
	s.awaitRecord(ctx, j.ID)
	return Stopped{PID: j.PID, Status: st.Stopped, Message: sentence(st, grace)}, nil
}

// remember keeps the key of a stop, and refuses one that another stop has used.
func (s *Service) remember(a Ask) error {
	if a.Once == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := a.Owner + "\x00" + a.Once.Key
	if hash, used := s.stops[key]; used && hash != a.Once.Hash {
		return runs.ConflictingKey(a.Once.Key)
	}
	if len(s.stops) >= maxStops {
		clear(s.stops)
	}
	s.stops[key] = a.Once.Hash
	return nil
}

// maxStops is how many keys of stops are remembered.
const maxStops = 1000

// awaitRecord waits until the journal says that the job is over, so that whoever asks
// next is told so. Nobody may drive it: then this does not wait.
func (s *Service) awaitRecord(ctx context.Context, id runs.ID) {
	if !s.o.Store.Driven(id) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	_, _ = s.o.Store.Until(ctx, id, func(v *runs.View) bool { return v.State.Terminal() })
}

func sentence(st proc.Status, grace time.Duration) string {
	switch {
	case st.Stopped == proc.Unkilled:
		return "Process, or something that it started, still runs after SIGKILL"
	case st.Stopped == proc.Killed:
		return fmt.Sprintf("Process did not stop within %s and was killed", grace)
	case st.Signal != "":
		return "Process stopped gracefully with signal " + st.Signal
	case st.State == proc.Exited:
		return fmt.Sprintf("Process stopped gracefully with exit code %d", st.Exit)
	}
	return "Process stopped gracefully"
}
