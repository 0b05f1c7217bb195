// Package journal is an append-only, hash-chained file of events that survives
// a crash.
//
// A journal is one file of lines, each a compact JSON object. The caller gives
// the members; the journal puts the sequence number in front and the chain
// behind:
//
//	{"seq":7,<members>,"prev_hash":"<hash of line 6>","event_hash":"<hash>"}
//
// Sequence numbers start at 1. The hash is the SHA-256, in hexadecimal, of the
// line's raw bytes before ,"event_hash" and so covers everything in front of it,
// the previous hash included. The first line's prev_hash is empty. The journal
// knows nothing about the meaning of an event.
//
// What makes "no acknowledged event is lost" true, each line shown necessary by
// the crash simulation in the tests:
//
//   - whole lines are written with one write call and flushed before [Journal.Append]
//     answers a durable append; concurrent appends share a flush;
//   - [Open] flushes what it read before it returns, because its caller will act on
//     lines that a killed writer may have left unflushed;
//   - after a failed write or flush the journal is poisoned: the kernel may have
//     dropped the pages, so a second flush would lie. Only a new Open helps;
//   - only an incomplete last line is ever cut. A complete but wrong line is
//     damage: it is reported by its sequence number and the file is left as it is;
//   - whole lines missing at the end are invisible to the chain, so heads that are
//     kept elsewhere (a snapshot, an index) are compared by Open and [Verify];
//   - a new journal is born in a folder built aside that [PublishDir] puts in its
//     place at once; other files are replaced by [WriteFileAtomic].
//
// One process at a time may hold a [Journal]; the caller sees to that with a lock.
// Any number of processes may [Read] meanwhile.
//
// Everything goes through [FS], a seam so small that a simulated disk can stand
// in for the real one, which is [Disk].
package journal

import (
	"os"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
)

// MaxLine is the longest line in bytes, newline included. A longer one is
// refused by Append and counts as broken when read.
const MaxLine = 8 << 20

// Head is a point of a journal: the end of a line. The zero Head is the
// beginning of the file.
type Head struct {
	Seq  int64  // the line's sequence number
	Hash string // the line's event_hash
	Size int64  // the offset of the byte after the line, which is the file's size when the line is the last
}

// Journal is a journal open for appending. Its methods may be called
// concurrently.
type Journal struct {
	file File

	mu     sync.Mutex // guards head and failed, and orders writes
	head   Head
	failed error // why nothing can be appended any more

	flush  sync.Mutex // held by the one goroutine that flushes
	stable int64      // how many bytes are known to be flushed; guarded by flush
}

// Create makes an empty journal. The file must not exist: the error satisfies
// errors.Is(err, fs.ErrExist) if it does. The entry in its folder is not flushed;
// create the journal in a folder built aside and publish that with [PublishDir].
func Create(fsys FS, path string) (*Journal, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Journal{file: f}, nil
}

// Head returns the point after the last line written, which may not be flushed.
func (j *Journal) Head() Head {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.head
}

// Append writes one line for each body and returns them and the head after them.
//
// A body is a compact JSON object with at least one member, without a newline and
// without members named seq, prev_hash or event_hash; otherwise nothing is written
// and the fault is INVALID_INPUT.
//
// When durable, Append returns after the lines, and all before them, are flushed
// to the disk. Otherwise they are flushed by the next durable append.
//
// A failure of the disk is a JOURNAL_POISONED fault, for this call and all later
// ones: it is unknown which of the lines exist, a prefix of them may. Close the
// journal and Open it again to find out.
func (j *Journal) Append(durable bool, bodies ...[]byte) (Head, []Line, error) {
	for _, body := range bodies {
		if err := checkBody(body); err != nil {
			return Head{}, nil, err
		}
	}
	head, lines, err := j.write(bodies)
	if err == nil && durable {
		err = j.flushTo(head.Size)
	}
	if err != nil {
		return Head{}, nil, err
	}
	return head, lines, nil
}

// write seals the bodies into lines and writes them with one call.
func (j *Journal) write(bodies [][]byte) (Head, []Line, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return Head{}, nil, j.failed
	}
	head, lines, buf := seal(j.head, bodies)
	if len(buf) == 0 {
		return head, nil, nil
	}
	if _, err := j.file.Write(buf); err != nil {
		j.failed = poisoned(err)
		return Head{}, nil, j.failed
	}
	j.head = head
	return head, lines, nil
}

// flushTo returns when the first size bytes are on the disk. Whoever gets in
// flushes for all that wrote before, so those who waited find their work done.
func (j *Journal) flushTo(size int64) error {
	j.flush.Lock()
	defer j.flush.Unlock()
	if j.stable >= size {
		return nil
	}
	j.mu.Lock()
	written, err := j.head.Size, j.failed
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return j.poison(err)
	}
	j.stable = written
	return nil
}

// poison ends the journal's life, unless it has already ended, and returns why.
func (j *Journal) poison(cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = poisoned(cause)
	}
	return j.failed
}

// Close releases the file. It does not flush: what was not durable before may be
// lost with the power. Later appends fail.
func (j *Journal) Close() error {
	j.flush.Lock()
	defer j.flush.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.failed = fault.New(fault.JournalPoisoned, "the journal is closed")
	}
	return j.file.Close()
}

func poisoned(cause error) error {
	return fault.New(fault.JournalPoisoned, "writing to the run's journal failed, so nothing more is written until it is read again").Because(cause)
}
