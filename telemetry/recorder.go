package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueSize    = 4096                   // records that may wait
	batchSize    = 256                    // records in one transaction
	gatherTime   = 100 * time.Millisecond // how long the first record of a batch waits for others
	writeTimeout = 5 * time.Second        // for one batch; another process may hold the file
)

// A recorder writes records behind the calls' back. Its goroutine starts with the
// first record. When the queue is full, or the store refuses, records are dropped
// and counted: telemetry never blocks a call. They are forwarded all the same.
type recorder struct {
	store   *store
	forward Forwarder
	log     *slog.Logger
	in      chan Record
	flushes chan chan struct{}
	stopped chan struct{} // closed when the goroutine is gone
	dropped atomic.Int64

	failing bool // the last write failed; the goroutine\'s own

	once    sync.Once // starts the goroutine
	started atomic.Bool
	mu      sync.RWMutex // held for reading while sending
	closed  bool
}

func newRecorder(s *store, forward Forwarder, log *slog.Logger) *recorder {
	return &recorder{store: s, forward: forward, log: log, in: make(chan Record, queueSize),
		flushes: make(chan chan struct{}), stopped: make(chan struct{})}
}

// add queues a record, or drops it.
func (q *recorder) add(r Record) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.drop(r)
		return
	}
	q.once.Do(func() {
		q.started.Store(true)
		go q.loop()
	})
	select {
	case q.in <- r:
	default:
		q.drop(r)
	}
}

// drop counts a record that the store will not have.
func (q *recorder) drop(r Record) {
	q.dropped.Add(1)
	q.forward.Forward([]Record{r})
}

// flush returns once every record queued before is written or dropped.
func (q *recorder) flush(ctx context.Context) error {
	if !q.started.Load() {
		return nil
	}
	done := make(chan struct{})
	select {
	case q.flushes <- done:
	case <-q.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close writes what is queued and ends the goroutine.
func (q *recorder) close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.in)
	}
	q.mu.Unlock()
	if !q.started.Load() {
		return nil
	}
	select {
	case <-q.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// loop gathers records into batches: a transaction costs more than the call that it
// records, so calls in a row share one.
func (q *recorder) loop() {
	defer close(q.stopped)
	var batch []Record
	var due <-chan time.Time
	for {
		select {
		case r, ok := <-q.in:
			if !ok {
				q.write(batch)
				return
			}
			if batch = append(batch, r); len(batch) == 1 {
				due = time.After(gatherTime)
			}
			if len(batch) < batchSize {
				continue
			}
			q.write(batch)
		case <-due:
			q.write(batch)
		case done := <-q.flushes:
			q.write(q.waiting(batch))
			close(done)
		}
		batch, due = nil, nil
	}
}

// waiting appends what is queued now.
func (q *recorder) waiting(batch []Record) []Record {
	for range len(q.in) {
		batch = append(batch, <-q.in)
	}
	return batch
}

func (q *recorder) write(batch []Record) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := q.store.insert(ctx, batch)
	if err != nil {
		q.forward.Forward(batch)
		q.dropped.Add(int64(len(batch)))
	}
	if err != nil && !q.failing {
		q.log.Error("telemetry records are being dropped", "err", err)
	}
	if err == nil && q.failing {
		q.log.Info("telemetry records are kept again", "dropped", q.dropped.Load())
	}
	q.failing = err != nil
}
