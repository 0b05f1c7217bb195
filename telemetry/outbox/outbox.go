// Package outbox delivers records to a telemetry API elsewhere, some time, each once.
//
// A record first goes to a file, the outbox: that of its run, telemetry_outbox.jsonl in
// the run's folder, or the one in the state directory for calls without a run. A
// goroutine posts the lines of the outboxes in order and takes those away that the API
// has. So there is one way for all records, a kill loses nothing, a slow API delays
// nobody, and what the API did not take is where the next start finds it. Delivering is
// at least once; the API knows a record by its event id, so it has each once.
//
// A request is tried three times, unless the API says that the request is at fault (4xx).
// When the API fails, the outboxes rest until the next stable state of a run, the next
// start, or a minute has passed. An outbox has at most 10 MB: the oldest lines give way,
// and are counted.
//
// Several processes may share a state directory. An outbox is locked while it is
// changed, for microseconds; a second lock says which process delivers.
package outbox

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/telemetry"
)

// Name is the file name of an outbox.
const Name = "telemetry_outbox.jsonl"

// LockName is the file in the state directory that is locked by who delivers.
const LockName = "telemetry_outbox.lock"

// MaxBytes is how long an outbox may be.
const MaxBytes = 10 << 20

// restTime is how long the outboxes rest after the API has failed, if nothing else
// calls for another try.
const restTime = time.Minute

// Options are where records come from and go to.
type Options struct {
	API      *url.URL // base of the API, without /api/v1
	Token    string   // bearer token; empty: none
	StateDir string   // holds the outbox of calls without a run
	RunsDir  string   // holds the folders of runs, each named by its id
	Version  string   // of the program, for User-Agent
	Log      *slog.Logger

	Transport http.RoundTripper                    // default: one of the standard library
	After     func(time.Duration) <-chan time.Time // default: time.After
	MaxBytes  int64                                // default: [MaxBytes]
}

// Outbox is a [telemetry.Forwarder] that delivers by HTTP. Close it.
type Outbox struct {
	o       Options
	client  *http.Client
	dropped atomic.Int64
	lost    atomic.Bool // a warning about dropped lines was written

	mu    sync.Mutex
	due   map[string]bool // paths of outboxes with lines that were not tried yet
	kept  map[string]bool // paths of outboxes with lines that were not taken
	fresh chan struct{}   // something is due
	flush chan struct{}   // try again what was not taken

	closing chan struct{}
	stopped chan struct{}
	once    sync.Once
	ctx     context.Context
	cancel  context.CancelFunc
}

var _ telemetry.Forwarder = (*Outbox)(nil)

// New begins to deliver what earlier processes left, and then what is forwarded.
func New(o Options) *Outbox {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = MaxBytes
	}
	out := &Outbox{o: o, client: newClient(o.Transport), due: map[string]bool{}, kept: map[string]bool{},
		fresh: make(chan struct{}, 1), flush: make(chan struct{}, 1), closing: make(chan struct{}), stopped: make(chan struct{})}
	out.ctx, out.cancel = context.WithCancel(context.Background())
	go out.loop()
	return out
}

// Forward implements [telemetry.Forwarder].
func (o *Outbox) Forward(records []telemetry.Record) {
	now := time.Now().UTC()
	lines := map[string][][]byte{}
	for _, r := range records {
		run := r.ParentRunID
		if run == "" {
			run = r.RunID
		}
		path := o.pathOf(run)
		lines[path] = append(lines[path], recordLine(r, now))
	}
	for path, of := range lines {
		o.add(path, of)
	}
}

// Associate implements [telemetry.Forwarder].
func (o *Outbox) Associate(run string, eventIDs []string, c telemetry.Commit) {
	if len(eventIDs) == 0 {
		return
	}
	now := time.Now().UTC()
	var lines [][]byte
	for _, id := range eventIDs {
		lines = append(lines, commitLine(id, c, now))
	}
	o.add(o.pathOf(run), lines)
}

// Flush implements [telemetry.Forwarder].
func (o *Outbox) Flush() { signal(o.flush) }

// Dropped returns how many lines were given up because an outbox was full, could not be
// written, or was damaged.
func (o *Outbox) Dropped() int64 { return o.dropped.Load() }

// Close delivers what it can until ctx ends, unless the API has failed already; the rest
// stays in the outboxes. Nothing may be forwarded afterwards.
func (o *Outbox) Close(ctx context.Context) {
	o.once.Do(func() { close(o.closing) })
	select {
	case <-o.stopped:
	case <-ctx.Done():
		o.cancel()
		<-o.stopped
	}
	o.cancel()
	o.client.CloseIdleConnections()
}

// pathOf returns the path of the outbox of a run, or of the one for calls without a run.
func (o *Outbox) pathOf(run string) string {
	if runs.ID(run).Valid() {
		folder := filepath.Join(o.o.RunsDir, run)
		if info, err := os.Lstat(folder); err == nil && info.IsDir() {
			return filepath.Join(folder, Name)
		}
	}
	return filepath.Join(o.o.StateDir, Name)
}

// add puts lines into an outbox.
func (o *Outbox) add(path string, lines [][]byte) {
	gone, err := box(path).add(lines, o.o.MaxBytes)
	if err != nil {
		gone = len(lines)
	}
	if gone > 0 {
		o.drop(gone, err)
	}
	o.mu.Lock()
	o.due[path] = true
	o.mu.Unlock()
	signal(o.fresh)
}

// drop counts lines that are lost, and says so the first time.
func (o *Outbox) drop(n int, err error) {
	total := o.dropped.Add(int64(n))
	if o.lost.Swap(true) {
		return
	}
	attrs := []any{"dropped", total}
	if err != nil {
		attrs = append(attrs, "error", err.Error())
	}
	o.o.Log.Warn("records for the telemetry API are being given up", attrs...)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is signalled already
	}
}
