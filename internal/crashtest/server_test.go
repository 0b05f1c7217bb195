package crashtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// server is a gantry mcp process, spoken to line by line.
type server struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	log   bytes.Buffer  // standard error, to be read when the process is gone
	gone  chan struct{} // closed when it is
	mu    sync.Mutex
	next  int
	waits map[int]chan answer
}

// answer is what came back: a result, or a fault.
type answer struct {
	Result struct {
		Structured json.RawMessage `json:"structuredContent"`
	} `json:"result"`
	Error *refusal `json:"error"`
}

// refusal is a fault as it is on the wire.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		ErrorCode string `json:"error_code"`
		Retryable bool   `json:"retryable"`
	} `json:"data"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: %s (retryable %v)", r.Data.ErrorCode, r.Message, r.Data.Retryable)
}

// errGone says that the server died before it answered.
var errGone = errors.New("the server is gone")

// errSilent says that the server lives and does not answer.
var errSilent = errors.New("the server does not answer")

// serve starts a server and does the handshake. A server that is killed meanwhile is
// returned too: its calls are errGone.
func (l *lab) serve(args ...string) *server {
	s := &server{cmd: l.command(append([]string{"mcp"}, args...)...), gone: make(chan struct{}), waits: map[int]chan answer{}}
	var out io.ReadCloser
	var err error
	if s.in, err = s.cmd.StdinPipe(); err == nil {
		out, err = s.cmd.StdoutPipe()
	}
	s.cmd.Stderr = &s.log
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		l.t.Errorf("start a server: %v", err)
		close(s.gone)
		return s
	}
	go s.read(out)
	_, err = s.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "crashtest", "version": "1"},
	})
	if err == nil {
		err = s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil && !errors.Is(err, errGone) {
		l.t.Errorf("handshake: %v", err)
	}
	return s
}

func (s *server) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // an incomplete last line is no answer
		}
		var head struct {
			ID *int `json:"id"`
			answer
		}
		if json.Unmarshal(line, &head) != nil || head.ID == nil {
			continue
		}
		s.mu.Lock()
		if wait, ok := s.waits[*head.ID]; ok {
			wait <- head.answer
			delete(s.waits, *head.ID)
		}
		s.mu.Unlock()
	}
	s.cmd.Wait()
	close(s.gone)
}

func (s *server) send(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.in.Write(append(raw, '\n')); err != nil {
		return errGone
	}
	return nil
}

// request sends a request and waits for its answer.
func (s *server) request(method string, params any) (json.RawMessage, error) {
	wait := make(chan answer, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waits[id] = wait
	s.mu.Unlock()
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	var a answer
	select {
	case a = <-wait:
	case <-s.gone:
		select {
		case a = <-wait: // it answered before it died
		default:
			return nil, errGone
		}
	case <-late.C:
		return nil, errSilent
	}
	if a.Error != nil {
		return nil, a.Error
	}
	return a.Result.Structured, nil
}

// args are the arguments of a call.
type args map[string]any

// call calls a tool and decodes its structured result into out, unless that is nil.
func (s *server) call(tool string, a args, out any) error {
	raw, err := s.request("tools/call", map[string]any{"name": tool, "arguments": a})
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// kill ends the server at once and waits until it is gone.
func (s *server) kill() {
	if s.cmd.Process != nil {
		syscall.Kill(s.cmd.Process.Pid, syscall.SIGKILL)
	}
	<-s.gone
}

// leave closes the server's input and waits until it has gone in order.
func (s *server) leave() {
	s.in.Close()
	<-s.gone
}

// code returns the error code of a refusal, "" of anything else.
func code(err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return r.Data.ErrorCode
	}
	return ""
}

// status is what the tests read of a run's status.
type status struct {
	RunID string `json:"run_id"`
	State string `json:"state"`
	Next  *struct {
		Tools []string `json:"tools"`
	} `json:"next"`
	Paused    *struct{}                       `json:"paused"`
	Artifacts []struct{ Name, SHA256 string } `json:"artifacts"`
	Chain     struct {
		Verified bool  `json:"verified"`
		Seq      int64 `json:"seq"`
		BadSeq   int64 `json:"bad_seq"`
	} `json:"chain"`
}
