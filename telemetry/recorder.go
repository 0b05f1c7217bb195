package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueSize    = 4096            // records that may wait
	batchSize    = 256             // records in one transaction
	writeTimeout = 5 * time.Second // for one batch; another process may hold the file
)

// A recorder writes records behind the calls' back. Its goroutine starts with the
// first record. When the queue is full, or the store refuses, records are dropped
// and counted: telemetry never blocks a call.
type recorder struct {
	store   *store
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

func newRecorder(s *store, log *slog.Logger) *recorder {
	return &recorder{store: s, log: log, in: make(chan Record, queueSize),
		flushes: make(chan chan struct{}), stopped: make(chan struct{})}
}

// add queues a record, or drops it.
func (q *recorder) add(r Record) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.dropped.Add(1)
		return
	}
	q.once.Do(func() {
		q.started.Store(true)
		go q.loop()
	})
	select {
	case q.in <- r:
	default:
		q.dropped.Add(1)
	}
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

func (q *recorder) loop() {
	defer close(q.stopped)
	for {
		select {
		case r, ok := <-q.in:
			if !ok {
				return
			}
			q.write(q.batch(r))
		case done := <-q.flushes:
			for n := len(q.in); n > 0; {
				batch := q.batch(<-q.in)
				q.write(batch)
				n -= len(batch)
			}
			close(done)
		}
	}
}

// batch returns first and what waits behind it. What arrives while a batch is
// written makes the next one, so a lone record is written at once.
func (q *recorder) batch(first Record) []Record {
	batch := []Record{first}
	for len(batch) < batchSize {
		select {
		case r, ok := <-q.in:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

func (q *recorder) write(batch []Record) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := q.store.insert(ctx, batch)
	if err != nil {
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
