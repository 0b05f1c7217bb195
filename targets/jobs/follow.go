package jobs

import (
	"errors"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Followed is a job as who has started it finds it again.
type Followed struct {
	Started
	Updated time.Time
	Stopped bool // it was ended by request
}

// Followed returns a job by its run, with its newest output. It is RUN_NOT_FOUND when there
// is none that the caller may see. Output that is not kept any more is left out.
func (s *Service) Followed(owner string, id runs.ID) (Followed, error) {
	v, err := s.o.Store.View(id)
	if err != nil {
		return Followed{}, err
	}
	if !s.visible(v, owner) {
		return Followed{}, fault.New(fault.RunNotFound, "there is no run %q", id)
	}
	j, err := s.started(v)
	if errors.Is(err, proc.ErrNoProcess) { // its output is not kept any more
		j.Truncated = true
		j.Job, err = s.job(v)
	}
	if err != nil {
		return Followed{}, err
	}
	out := Followed{Started: j, Updated: v.UpdatedAt, Stopped: v.State == runs.StateCancelled || strings.Contains(j.Error, stoppedOnRequest)}
	if p := v.Process; p != nil && strings.Contains(p.Note, stoppedOnRequest) {
		out.Stopped = true
	}
	if j.Ended.After(out.Updated) {
		out.Updated = j.Ended
	}
	return out, nil
}
