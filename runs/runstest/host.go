package runstest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// hostArg is the first argument of a test binary that serves as a host; the second
// one is its hostConfig.
const hostArg = "runstest-host"

type hostConfig struct {
	State     string `json:"state"`      // state directory
	Log       string `json:"log"`        // where executions are written down
	AdoptMS   int    `json:"adopt_ms"`   // 0: runs without driver are left alone
	BackoffMS int    `json:"backoff_ms"` // after the first failure; each further one adds as much
}

// request is a line that the suite sends to a host. A host answers when it is done
// and takes others meanwhile.
type request struct {
	ID      int               `json:"id"`
	Op      string            `json:"op"`
	Start   runs.StartRequest `json:"start"`
	Run     runs.ID           `json:"run"`
	Command runs.Command      `json:"command"`
}

const (
	opStart   = "start"
	opCommand = "command"
	opAwait   = "await"
	opClose   = "close"
)

type answer struct {
	ID        int          `json:"id"`
	Run       runs.ID      `json:"run"`
	Created   bool         `json:"created"`
	CommandID string       `json:"command_id"`
	Receipt   runs.Receipt `json:"receipt"`
	Fault     *wireFault   `json:"fault"`
}

type wireFault struct {
	Code      fault.Code      `json:"code"`
	Message   string          `json:"message"`
	Retryable bool            `json:"retryable"`
	Details   json.RawMessage `json:"details"`
}

// serveIfHost serves when this process was started as a host. ok is false when it was not.
func serveIfHost(open Open) (code int, ok bool) {
	if len(os.Args) != 3 || os.Args[1] != hostArg {
		return 0, false
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := serve(open, os.Args[2], log); err != nil {
		log.Error("host failed", "error", err.Error())
		return 1, true
	}
	return 0, true
}

// host is an engine behind a pair of pipes.
type host struct {
	engine runs.Engine
	mu     sync.Mutex // guards out
	out    *json.Encoder
}

func serve(open Open, config string, log *slog.Logger) error {
	var c hostConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	store, err := runs.OpenStore(c.State, runs.StoreOptions{Log: log})
	if err != nil {
		return err
	}
	engine, err := open(Config{
		Store: store, Workers: Workers(c.Log), Adopt: time.Duration(c.AdoptMS) * time.Millisecond, Log: log,
		Backoff: func(failures int) time.Duration { return time.Duration(failures*c.BackoffMS) * time.Millisecond },
	})
	if err != nil {
		return err
	}
	h := host{engine: engine, out: json.NewEncoder(os.Stdout)}
	var calls sync.WaitGroup
	in := json.NewDecoder(os.Stdin)
	for {
		var r request
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			break // the suite is gone, or done with us
		} else if err != nil {
			return err
		}
		calls.Go(func() { h.answer(h.do(r)) })
	}
	calls.Wait()
	return errors.Join(engine.Close(context.Background()), store.Close())
}

func (h *host) answer(a answer, err error) {
	if err != nil {
		f := fault.From(err)
		details, _ := json.Marshal(f.Details)
		a.Fault = &wireFault{f.Code, f.Message, f.Retryable, details}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.out.Encode(a) // the suite is gone: stdin tells
}

func (h *host) do(r request) (a answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a.ID = r.ID
	switch r.Op {
	case opStart:
		a.Run, a.Created, err = h.engine.Start(ctx, r.Start)
	case opCommand:
		a.CommandID, err = h.engine.Command(ctx, r.Run, r.Command)
	case opAwait:
		a.Receipt, err = h.engine.Await(ctx, r.Run, r.Command.ID)
	case opClose:
		err = h.engine.Close(ctx)
	default:
		err = errors.New("unknown operation " + r.Op)
	}
	return a, err
}
