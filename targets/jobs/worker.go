package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// WorkerOptions are what a worker needs.
type WorkerOptions struct {
	Store      *runs.Store
	Supervisor *proc.Supervisor
	HandOff    *HandOff
	Now        func() time.Time
}

// WorkerName is the worker's name in the workflow.
const WorkerName = "target"

// Worker returns the activity that drives a job: it waits for its process to appear,
// whoever starts it, and to end, and reports both. A process that ended by itself, with
// whatever code, is a job that succeeded. One that a signal ended, that was lost, or that
// never started is a fault.
func Worker(o WorkerOptions) runs.Activity {
	if o.Now == nil {
		o.Now = time.Now
	}
	return (&worker{o}).execute
}

type worker struct{ o WorkerOptions }

const (
	// appearance is how long after a job's beginning its process may appear. Who starts
	// it may be another program, so nothing tells.
	appearance = 10 * time.Second
	lookAgain  = 20 * time.Millisecond
	// cancelGrace is less than what the engine grants work that it interrupts.
	cancelGrace = 2 * time.Second
)

func (w *worker) execute(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
	defer w.o.HandOff.attend(work.Run)()
	key := string(work.Run)
	st, kind, err := w.begin(ctx, work.Run, try)
	if err != nil {
		return runs.Result{}, w.neverStarted(ctx, key, try, err)
	}
	try.Tell(runs.Draft{Type: kind, Payload: runs.Process{Key: key, PID: st.PID, State: runs.Running}})
	if st.State == proc.Orphan { // its own supervisor was killed
		if _, err := w.o.Supervisor.Ensure(ctx, key, proc.ProcSpec{}); err != nil {
			return runs.Result{}, err
		}
	}
	st, err = w.o.Supervisor.Wait(ctx, key)
	if err == nil {
		return end(st, w.written(key), try)
	}
	if ctx.Err() != nil {
		w.stopIfCancelled(work.Run)
		return runs.Result{}, context.Cause(ctx)
	}
	if errors.Is(err, proc.ErrNoProcess) {
		st.Key, st.State, st.Exit, st.Reason = key, proc.Lost, -1, "what was known of it was removed"
		return end(st, w.written(key), try)
	}
	return runs.Result{}, err
}

// begin returns the process once it is there, and what to report of it.
func (w *worker) begin(ctx context.Context, id runs.ID, try runs.Try) (proc.Status, runs.EventType, error) {
	if s := w.o.HandOff.started(id); s != nil {
		st, err := s.wait(ctx)
		return st, runs.ProcessStarted, err
	}
	for {
		st, err := w.o.Supervisor.Status(string(id))
		unborn := errors.Is(err, proc.ErrNoProcess) || err == nil && st.State == proc.Starting
		late := try.View.Process != nil || w.o.Now().Sub(try.View.CreatedAt) > appearance
		switch {
		case unborn && late:
			return st, "", fault.New(fault.SpawnFailed, "the server ended before the process was started")
		case err == nil && st.State == proc.Failed:
			return st, "", fault.New(fault.SpawnFailed, "%s", st.Reason)
		case !unborn:
			return st, runs.ProcessAdopted, err
		}
		if err := pause(ctx, lookAgain); err != nil {
			return st, "", err
		}
	}
}

// neverStarted reports a process that never was. An interruption is none of those.
func (w *worker) neverStarted(ctx context.Context, key string, try runs.Try, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := spawnFailed(err)
	try.Tell(runs.Draft{Type: runs.ProcessEnded, Payload: runs.Process{Key: key, State: runs.Failed, Note: clip(f.Message, maxNote)}})
	return f
}

// spawnFailed is the fault for a process that could not be started.
func spawnFailed(err error) *fault.Fault {
	f := fault.From(err)
	if f.Code == fault.SpawnFailed {
		return f
	}
	reason := f.Message
	if f.Code == fault.Internal {
		reason = "its supervisor did not come up"
	}
	return fault.New(fault.SpawnFailed, "Failed to start process: %s", reason).WithHint("Check if the command and arguments are valid").Because(err)
}

// stopIfCancelled ends the process of a run that was cancelled, as opposed to a driver
// that goes and leaves it to another.
func (w *worker) stopIfCancelled(id runs.ID) {
	v, err := w.o.Store.View(id)
	if err != nil {
		return
	}
	for _, c := range v.Commands {
		if c.Type == runs.Cancel {
			ctx, done := context.WithTimeout(context.Background(), 2*cancelGrace)
			defer done()
			_, _ = w.o.Supervisor.Stop(ctx, string(id), cancelGrace) // nobody is left to be told
			return
		}
	}
}

// written returns how many bytes a process wrote; 0 when what was known of it is gone.
func (w *worker) written(key string) int64 {
	x, err := w.o.Supervisor.Extent(key)
	if err != nil {
		return 0
	}
	return x.Total
}

// end turns the last status of a process into the job's result.
func end(st proc.Status, written int64, try runs.Try) (runs.Result, error) {
	p := runs.Process{Key: st.Key, PID: st.PID, State: string(proc.Exited), Signal: st.Signal, Note: clip(note(st), maxNote), OutputBytes: written}
	d := runs.Draft{Type: runs.ProcessEnded, Payload: &p}
	if st.State == proc.Exited && st.Signal == "" {
		p.ExitCode = &st.Exit
		return runs.Result{Events: []runs.Draft{d}}, nil
	}
	p.State = runs.Failed
	try.Tell(d)
	if st.Signal != "" {
		return runs.Result{}, fault.New(fault.ProcessFailed, "the task was ended by %s", st.Signal)
	}
	return runs.Result{}, fault.New(fault.ProcessFailed, "the task was lost: %s", st.Reason)
}

const maxNote = 2000

// stoppedOnRequest is what the end of a job notes that somebody has stopped.
const stoppedOnRequest = "stopped on request"

// note says what there is to say about an end beside code and signal.
func note(st proc.Status) string {
	said := st.Reason
	add := func(format string, args ...any) {
		if said != "" {
			said += "; "
		}
		said += fmt.Sprintf(format, args...)
	}
	switch st.StoppedBy {
	case proc.ByRequest:
		add(stoppedOnRequest)
	case proc.ByOwner:
		add("stopped with the server that started it")
	case proc.ByTimeout:
		add("stopped after its timeout")
	case proc.BySystem:
		add("stopped by the system")
	}
	if st.Stopped == proc.Killed {
		add("killed")
	}
	if st.Swept > 0 {
		add("%d processes that it left behind were ended", st.Swept)
	}
	return said
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
