package runstest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// errDied is the answer of a host that is no more.
var errDied = errors.New("the host died")

// remote is a host process as the suite sees it.
type remote struct {
	lab    *lab
	proc   *os.Process
	in     *os.File
	gone   chan struct{} // closed when its output ends
	waited sync.Once
	state  *os.ProcessState

	mu      sync.Mutex
	next    int
	waiting map[int]chan answer
}

// host starts a host process on the lab's state directory. It ends with the test.
func (l *lab) host(c hostConfig) *remote {
	l.t.Helper()
	c.State, c.Log = l.state, l.log
	if c.BackoffMS == 0 {
		c.BackoffMS = 5
	}
	config, err := json.Marshal(c)
	if err != nil {
		l.t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	inRead, inWrite := pipe(l.t)
	outRead, outWrite := pipe(l.t)
	stderr, err := os.OpenFile(l.stderr, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	proc, err := os.StartProcess(exe, []string{exe, hostArg, string(config)}, &os.ProcAttr{
		Dir: filepath.Dir(l.state), Files: []*os.File{inRead, outWrite, stderr},
	})
	for _, f := range []*os.File{inRead, outWrite, stderr} {
		f.Close()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	h := &remote{lab: l, proc: proc, in: inWrite, gone: make(chan struct{}), waiting: map[int]chan answer{}}
	go h.read(outRead)
	l.t.Cleanup(func() { h.proc.Kill(); h.wait() })
	return h
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// read hands answers to those who wait for them.
func (h *remote) read(out *os.File) {
	defer close(h.gone)
	defer out.Close()
	d := json.NewDecoder(out)
	for {
		var a answer
		if d.Decode(&a) != nil {
			return
		}
		h.mu.Lock()
		c := h.waiting[a.ID]
		delete(h.waiting, a.ID)
		h.mu.Unlock()
		c <- a
	}
}

func (h *remote) call(r request) (answer, error) {
	c := make(chan answer, 1)
	h.mu.Lock()
	h.next++
	r.ID = h.next
	h.waiting[r.ID] = c
	err := json.NewEncoder(h.in).Encode(r)
	h.mu.Unlock()
	if err != nil {
		return answer{}, errDied
	}
	select {
	case a := <-c:
		return a, a.err()
	case <-h.gone:
	}
	select {
	case a := <-c: // it answered and died
		return a, a.err()
	default:
		return answer{}, errDied
	}
}

func (a answer) err() error {
	if a.Fault == nil {
		return nil
	}
	return &fault.Fault{Code: a.Fault.Code, Message: a.Fault.Message, Retryable: a.Fault.Retryable, Details: a.Fault.Details}
}

func (h *remote) start(r runs.StartRequest) (runs.ID, bool, error) {
	a, err := h.call(request{Op: opStart, Start: r})
	return a.Run, a.Created, err
}

func (h *remote) command(id runs.ID, c runs.Command) (string, error) {
	a, err := h.call(request{Op: opCommand, Run: id, Command: c})
	return a.CommandID, err
}

func (h *remote) await(id runs.ID, command string) (runs.Receipt, error) {
	a, err := h.call(request{Op: opAwait, Run: id, Command: runs.Command{ID: command}})
	return a.Receipt, err
}

// kill ends the host with SIGKILL, wherever it is.
func (h *remote) kill() {
	h.lab.t.Helper()
	if err := record(h.lab.log, entry{PID: h.proc.Pid, What: killed}); err != nil {
		h.lab.t.Error(err)
	}
	h.proc.Kill()
	h.wait()
}

// close lets the host end in order. It must end with code 0.
func (h *remote) close() {
	h.lab.t.Helper()
	if h.in.Close(); h.wait() != 0 {
		h.lab.t.Errorf("the host ended with %v", h.state)
	}
}

func (h *remote) wait() int {
	h.waited.Do(func() {
		state, err := h.proc.Wait()
		if err != nil {
			return
		}
		h.state = state
		h.in.Close()
		<-h.gone
	})
	if h.state == nil {
		return -1
	}
	return h.state.ExitCode()
}

// races fails the test if the race detector found something in a host.
func (l *lab) races() {
	raw, _ := os.ReadFile(l.stderr)
	if i := strings.Index(string(raw), "DATA RACE"); i >= 0 {
		l.t.Errorf("a host has a data race:\n%s", raw[i:min(len(raw), i+4000)])
	}
	for _, line := range []string{"panic: ", "fatal error: "} {
		if i := strings.Index(string(raw), "\n"+line); i >= 0 {
			l.t.Errorf("a host crashed:\n%s", raw[i:min(len(raw), i+4000)])
		}
	}
}
