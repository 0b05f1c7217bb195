package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// Recent is how long a job that has ended is listed.
const Recent = time.Hour

// MaxListed is how many jobs are listed at most.
const MaxListed = 200

// Jobs returns the jobs that the caller may see: those that run, newest first, then
// those that ended within [Recent], newest first; at most [MaxListed] in all.
func (s *Service) Jobs(ctx context.Context, owner string) ([]Job, error) {
	views, err := s.busy(ctx, func(v *runs.View) bool { return s.visible(v, owner) })
	if err != nil {
		return nil, err
	}
	filter := runs.Filter{Kind: runs.Target, Owner: &owner, Ended: s.o.Now().Add(-Recent), Limit: MaxListed}
	if !s.o.AllRoots {
		filter.Root = s.rootID()
	}
	page, err := s.o.Store.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	for _, r := range page.Runs {
		v, err := s.o.Store.View(r.ID)
		if err != nil {
			continue // a damaged journal hides its own job and no other
		}
		views = append(views, v)
	}
	all := make([]Job, 0, len(views))
	seen := map[runs.ID]bool{}
	for _, v := range views {
		if seen[v.RunID] {
			continue // it ended between the two looks
		}
		seen[v.RunID] = true
		j, err := s.job(v)
		if err != nil {
			return nil, err
		}
		if j.Ended.IsZero() || s.o.Now().Sub(j.Ended) <= Recent {
			all = append(all, j)
		}
	}
	slices.SortFunc(all, order)
	return all[:min(len(all), MaxListed)], nil
}

// order puts jobs that run first, then the newest, then by id.
func order(a, b Job) int {
	over := func(j Job) int {
		if j.State == Running {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(over(a), over(b)), b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
}

// Named returns the jobs of [Service.Jobs] that are of one target, by its unique name or
// by what only that target is called. It is TASK_NOT_FOUND or TASK_AMBIGUOUS for a name
// that neither a job nor the project has.
func (s *Service) Named(ctx context.Context, owner, name string) ([]Job, error) {
	all, err := s.Jobs(ctx, owner)
	if err != nil {
		return nil, err
	}
	of := func(name string) []Job {
		return slices.DeleteFunc(slices.Clone(all), func(j Job) bool { return j.UniqueName != name })
	}
	if known := of(name); len(known) > 0 {
		return known, nil
	}
	l, err := s.o.Project.List(ctx, "")
	if err != nil {
		return nil, err
	}
	t, err := l.Lookup(name)
	if err != nil {
		return nil, err
	}
	return of(t.UniqueName), nil
}

// Find returns the newest job with the pid, as long as its output is kept. It is
// JOB_NOT_FOUND when there is none that the caller may see.
func (s *Service) Find(ctx context.Context, owner string, pid int) (Job, error) {
	views, err := s.unfinished(ctx, func(v *runs.View) bool { return s.visible(v, owner) })
	if err != nil {
		return Job{}, err
	}
	for _, v := range views {
		if v.Process == nil || v.Process.PID != pid {
			continue
		}
		if j, err := s.job(v); err != nil || j.State == Running {
			return j, err // whoever runs now has the pid
		}
	}
	id, err := s.byPID(owner, pid)
	if err != nil {
		return Job{}, err
	}
	v, err := s.o.Store.View(id)
	if err != nil {
		return Job{}, err
	}
	return s.job(v)
}

// Keyed returns the newest job of the local caller that was started with an idempotency
// key, among those of [Service.Jobs].
func (s *Service) Keyed(ctx context.Context, key string) (Job, error) {
	all, err := s.Jobs(ctx, "")
	if err != nil {
		return Job{}, err
	}
	for _, j := range all {
		v, err := s.o.Store.View(j.ID)
		if err == nil && v.Created.Once != nil && v.Created.Once.Key == key {
			return j, nil
		}
	}
	return Job{}, fault.New(fault.JobNotFound, "no job was started with this key")
}

// Job returns a job by its run.
func (s *Service) Job(id runs.ID) (Job, error) {
	v, err := s.o.Store.View(id)
	if err != nil {
		return Job{}, err
	}
	return s.job(v)
}

// byPID asks the supervisor, which knows the processes of all roots.
func (s *Service) byPID(owner string, pid int) (runs.ID, error) {
	all, err := s.o.Supervisor.List()
	if err != nil {
		return "", err
	}
	for _, st := range slices.Backward(all) { // those that started last first
		if st.PID != pid || !runs.ID(st.Key).Valid() {
			continue
		}
		v, err := s.o.Store.View(runs.ID(st.Key))
		if fault.Is(err, fault.RunNotFound) || err == nil && !s.visible(v, owner) {
			continue
		}
		return runs.ID(st.Key), err
	}
	return "", notFound(pid)
}

// unfinished returns the views of the jobs that are not over and that pass, in the order
// of their ids.
func (s *Service) unfinished(ctx context.Context, pass func(*runs.View) bool) ([]*runs.View, error) {
	return s.busy(ctx, func(v *runs.View) bool { return !v.State.Terminal() && pass(v) })
}

// busy returns the views of the jobs that pass and that are not over, or so lately that
// the index does not know it yet.
func (s *Service) busy(ctx context.Context, pass func(*runs.View) bool) ([]*runs.View, error) {
	ids, err := s.o.Store.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	var out []*runs.View
	for _, id := range ids {
		v, err := s.o.Store.View(id)
		if err == nil && v.Kind == runs.Target && pass(v) {
			out = append(out, v)
		}
	}
	return out, nil
}

// collect removes the output of the oldest ended jobs, unless there is one whose end
// nobody has recorded yet.
func (s *Service) collect(ctx context.Context) error {
	waiting, err := s.unfinished(ctx, func(v *runs.View) bool {
		st, err := s.o.Supervisor.Status(string(v.RunID))
		return err != nil && !errors.Is(err, proc.ErrNoProcess) || st.State.Ended()
	})
	if err != nil || len(waiting) > 0 {
		return err
	}
	_, err = s.o.Supervisor.Collect(ours, s.o.Keep, keptFor, s.o.Now())
	return err
}

// ours reports whether a process is that of a job: its key is the job's run. The turns of
// sessions have longer ones, and whoever reads their output removes it.
func ours(key string) bool { return runs.ID(key).Valid() }

// keptFor is how long the output of an ended job is kept at most.
const keptFor = 7 * 24 * time.Hour
