package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stdioTransport talks newline-delimited JSON-RPC to a child process.
type stdioTransport struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	wmu     sync.Mutex
	mu      sync.Mutex
	waiting map[int64]chan *message
	readErr error
	dead    atomic.Bool
	note    atomic.Pointer[func(*message)]
	done    chan struct{}
}

// Stdio starts a server and talks to it over its standard streams. The environment is
// complete; a nil stderr discards what the server says there.
func Stdio(argv, env []string, dir string, stderr io.Writer) (Transport, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env, cmd.Stderr = env, stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &stdioTransport{cmd: cmd, in: in, waiting: map[int64]chan *message{}, done: make(chan struct{})}
	go t.read(out)
	return t, nil
}

func (t *stdioTransport) read(out io.Reader) {
	defer close(t.done)
	r := bufio.NewReaderSize(out, 256<<10)
	var err error
	for {
		var line []byte
		line, err = r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			t.dispatch(line)
		}
		if err != nil {
			break
		}
	}
	t.dead.Store(true)
	t.mu.Lock()
	t.readErr = fmt.Errorf("server closed stdout: %w", err)
	for id, ch := range t.waiting {
		close(ch)
		delete(t.waiting, id)
	}
	t.mu.Unlock()
}

func (t *stdioTransport) dispatch(line []byte) {
	m := new(message)
	if err := json.Unmarshal(line, m); err != nil {
		return // a server must not print anything else, but some do
	}
	switch {
	case m.Method != "" && len(m.ID) > 0:
		t.answer(m)
	case m.Method != "":
		if f := t.note.Load(); f != nil {
			(*f)(m)
		}
	default:
		id, err := strconv.ParseInt(string(m.ID), 10, 64)
		if err != nil {
			return
		}
		t.mu.Lock()
		ch := t.waiting[id]
		delete(t.waiting, id)
		t.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

// answer replies to requests a server sends: pings succeed, the rest is refused.
func (t *stdioTransport) answer(m *message) {
	res := &message{JSONRPC: "2.0", ID: m.ID}
	if m.Method == "ping" {
		res.Result = json.RawMessage("{}")
	} else {
		res.Error = &rpcError{Code: -32601, Message: "mcpbench does not support " + m.Method}
	}
	_ = t.write(res)
}

func (t *stdioTransport) write(m *message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	t.wmu.Lock()
	defer t.wmu.Unlock()
	_, err = t.in.Write(append(b, '\n'))
	return err
}

func (t *stdioTransport) roundTrip(ctx context.Context, id int64, req *message, _ meta) (*message, error) {
	ch := make(chan *message, 1)
	t.mu.Lock()
	if t.readErr != nil {
		err := t.readErr
		t.mu.Unlock()
		return nil, err
	}
	t.waiting[id] = ch
	t.mu.Unlock()
	if err := t.write(req); err != nil {
		return nil, err
	}
	select {
	case m, ok := <-ch:
		if !ok {
			t.mu.Lock()
			defer t.mu.Unlock()
			return nil, t.readErr
		}
		return m, nil
	case <-ctx.Done():
		t.mu.Lock()
		delete(t.waiting, id)
		t.mu.Unlock()
		p, _ := json.Marshal(map[string]any{"requestId": id, "reason": ctx.Err().Error()})
		_ = t.write(&message{JSONRPC: "2.0", Method: "notifications/cancelled", Params: p})
		return nil, ctx.Err()
	}
}

func (t *stdioTransport) notify(_ context.Context, m *message, _ meta) error { return t.write(m) }
func (t *stdioTransport) onNotification(f func(*message))                    { t.note.Store(&f) }
func (t *stdioTransport) Kind() string                                       { return "stdio" }
func (t *stdioTransport) Target() string                                     { return strings.Join(t.cmd.Args, " ") }
func (t *stdioTransport) PID() int                                           { return t.cmd.Process.Pid }
func (t *stdioTransport) Broken() bool                                       { return t.dead.Load() }

// Close follows the spec's order: close stdin, wait, terminate, kill.
func (t *stdioTransport) Close() {
	_ = t.in.Close()
	exited := make(chan struct{})
	go func() { <-t.done; _ = t.cmd.Wait(); close(exited) }()
	for _, sig := range []os.Signal{nil, os.Interrupt, os.Kill} {
		if sig != nil {
			_ = t.cmd.Process.Signal(sig)
		}
		select {
		case <-exited:
			return
		case <-time.After(2 * time.Second):
		}
	}
}

var errNoAnswer = errors.New("stream ended without an answer")
