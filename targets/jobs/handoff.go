package jobs

import (
	"context"
	"sync"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// HandOff tells the worker of a program of the processes that its service starts, and
// the service of the jobs that its worker attends to. The zero value is ready for use.
type HandOff struct {
	mu       sync.Mutex
	starts   map[runs.ID]*start
	attended map[runs.ID]bool
}

// start is a process that is being started.
type start struct {
	done   chan struct{} // closed when the rest is set
	status proc.Status
	err    error
}

// expect announces that the process of a run will be started. It must come before
// anybody can drive the run.
func (h *HandOff) expect(id runs.ID) *start {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.starts == nil {
		h.starts = map[runs.ID]*start{}
	}
	s := &start{done: make(chan struct{})}
	h.starts[id] = s
	return s
}

// settle tells how the start went.
func (s *start) settle(st proc.Status, err error) {
	s.status, s.err = st, err
	close(s.done)
}

// wait returns how the start went.
func (s *start) wait(ctx context.Context) (proc.Status, error) {
	select {
	case <-s.done:
		return s.status, s.err
	case <-ctx.Done():
		return proc.Status{}, context.Cause(ctx)
	}
}

// started returns the announced start of a run, or nil.
func (h *HandOff) started(id runs.ID) *start {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.starts[id]
}

func (h *HandOff) forget(id runs.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.starts, id)
}

// attend notes that this program's worker drives a run, until leave is called. What the
// journal says of it is then true.
func (h *HandOff) attend(id runs.ID) (leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.attended == nil {
		h.attended = map[runs.ID]bool{}
	}
	h.attended[id] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.attended, id)
	}
}

func (h *HandOff) attends(id runs.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.attended[id]
}
