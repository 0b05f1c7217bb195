package entries

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
)

// Appender appends to one channel of one turn. It is used by one goroutine.
type Appender struct {
	data, index *os.File
	count, at   int64 // entries, and the offset behind them
	line, ends  bytes.Buffer
	failed      error
}

// Append opens a channel of a turn for appending, and repairs what a crash left. It is a
// retryable RUN_LOCKED fault while somebody else appends to it. Close the appender.
func (s *Store) Append(session, turn string, ch Channel) (*Appender, error) {
	base, err := s.base(session, turn, ch)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return nil, err
	}
	a := new(Appender)
	if a.data, err = os.OpenFile(base+dataName, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err = syscall.Flock(int(a.data.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		a.data.Close()
		return nil, fault.Retry(fault.RunLocked, "somebody else appends to this turn").Because(err)
	}
	if a.index, err = os.OpenFile(base+indexName, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
		err = a.repair()
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Count returns how many entries there are: the index of the next one.
func (a *Appender) Count() int64 { return a.count }

// Append appends entries. Readers see all of them when it returns. When it fails, some may
// be there and some not; the appender is of no more use, and opening it anew repairs.
func (a *Appender) Append(entries ...agents.Entry) error {
	if a.failed != nil || len(entries) == 0 {
		return a.failed
	}
	a.line.Reset()
	a.ends.Reset()
	enc := json.NewEncoder(&a.line)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
		binary.Write(&a.ends, binary.LittleEndian, uint64(a.at)+uint64(a.line.Len()))
	}
	if _, a.failed = a.data.WriteAt(a.line.Bytes(), a.at); a.failed == nil {
		_, a.failed = a.index.WriteAt(a.ends.Bytes(), a.count*offsetSize)
	}
	if a.failed == nil {
		a.at += int64(a.line.Len())
		a.count += int64(len(entries))
	}
	return a.failed
}

// Sync returns when all entries survive a power cut.
func (a *Appender) Sync() error {
	return errors.Join(a.data.Sync(), a.index.Sync())
}

// Close ends the appending. Entries that were appended stay, without Sync unless the
// power goes.
func (a *Appender) Close() error {
	// A process that is being started beside this holds the file open for a moment.
	err := errors.Join(syscall.Flock(int(a.data.Fd()), syscall.LOCK_UN), a.data.Close())
	if a.index != nil {
		err = errors.Join(err, a.index.Close())
	}
	return err
}

// repair makes both files agree: what is indexed ends in the data at the end of a line,
// whole lines behind it are indexed, and nothing else is left.
func (a *Appender) repair() error {
	n, err := whole(a.index, a.data)
	if err != nil {
		return err
	}
	for ; n > 0; n-- { // a power cut may have left zeros
		at, err := ends(a.index, n-2, n)
		if err != nil {
			return err
		}
		if at[0] >= at[1] {
			continue
		}
		line := make([]byte, at[1]-at[0])
		if _, err := a.data.ReadAt(line, at[0]); err != nil {
			return err
		}
		if line[len(line)-1] == '\n' && json.Valid(line) {
			a.at = at[1]
			break
		}
	}
	a.count = n
	if err := a.index.Truncate(n * offsetSize); err != nil {
		return err
	}
	if err := a.reindex(); err != nil {
		return err
	}
	return a.data.Truncate(a.at)
}

// reindex indexes the whole lines behind what is indexed.
func (a *Appender) reindex() error {
	info, err := a.data.Stat()
	if err != nil || info.Size() == a.at {
		return err
	}
	a.ends.Reset()
	rest, first := bufio.NewReader(io.NewSectionReader(a.data, a.at, info.Size()-a.at)), a.count
	for {
		line, err := rest.ReadBytes('\n')
		if err == io.EOF || err == nil && !json.Valid(line) {
			break
		}
		if err != nil {
			return err
		}
		a.at += int64(len(line))
		a.count++
		binary.Write(&a.ends, binary.LittleEndian, uint64(a.at))
	}
	_, err = a.index.WriteAt(a.ends.Bytes(), first*offsetSize)
	return err
}
