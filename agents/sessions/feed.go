package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/proc"
)

// feed turns the output of a turn's process into the turn's entries. It reads from the
// start. What an earlier feed has stored, it goes through again without storing it: the
// raw entries say in which order the lines of the two streams came, and the decoder makes of
// the same lines the same entries.
type feed struct {
	now       func() time.Time
	dec       agents.Decoder
	raw, norm *entries.Appender
	stored    int64     // normalized entries that are stored and were not come to again
	streams   [2]stream // output and errors

	rawBatch, normBatch []agents.Entry
	batched             int // bytes of lines in the batches
}

// Bounds on what is read and stored at once.
const (
	chunkBytes = 256 << 10
	batchBytes = 1 << 20
)

// newFeed returns a feed at the place that an earlier one came to. over says that the
// process has ended.
func newFeed(store *entries.Store, sup *proc.Supervisor, dec agents.Decoder, session, turn, key string, now func() time.Time) (*feed, error) {
	f := &feed{now: now, dec: dec}
	f.streams[0].read = func(at int64, most int) (proc.Output, error) { return sup.ReadFrom(key, at, most) }
	f.streams[1].read = func(at int64, most int) (proc.Output, error) { return sup.ReadErrors(key, at, most) }
	var err error
	if f.raw, err = store.Append(session, turn, entries.Raw); err != nil {
		return nil, err
	}
	if f.norm, err = store.Append(session, turn, entries.Normalized); err != nil {
		f.raw.Close()
		return nil, err
	}
	f.stored = f.norm.Count()
	return f, nil
}

func (f *feed) close() error { return errors.Join(f.raw.Close(), f.norm.Close()) }

// say stores what no line says, such as the prompt, unless it is stored already.
func (f *feed) say(name agents.EntryName, text string) error {
	n := &agents.Normalized{Timestamp: f.now(), Type: agents.EntryType{Name: name}, Content: clip(text, maxSaid)}
	if name == agents.ErrorMessage {
		n.Type.ErrorType = &agents.ErrorType{Name: agents.OtherError}
	}
	f.add(agents.Entry{Kind: agents.NormalizedEntry, Norm: n})
	return f.flush()
}

const maxSaid = 64 << 10

// again goes through the lines whose raw entries are stored.
func (f *feed) again(store *entries.Store, session, turn string, over bool) error {
	after, total := int64(-1), f.raw.Count()
	var rest []agents.Entry // of the line that is being gone through
	for after+1 < total {
		page, err := store.Page(session, turn, entries.Raw, entries.Query{Limit: 1000, After: &after})
		if err != nil || len(page.Entries) == 0 {
			return err
		}
		for _, item := range page.Entries {
			after = item.Index
			if len(rest) > 0 {
				rest = rest[1:]
				continue
			}
			isError := bytes.Contains(item.Entry[:min(len(item.Entry), 32)], []byte(`"`+string(agents.StderrEntry)+`"`))
			line, ok, err := f.streams[index(isError)].next(over)
			if err != nil || !ok {
				return err // what was stored is not kept any more
			}
			f.take(line, isError)
			rest = agents.Raw(line, isError)[1:]
		}
	}
	f.rawBatch = append(f.rawBatch, rest...) // a crash came between the entries of one line
	return f.flush()
}

func index(isError bool) int {
	if isError {
		return 1
	}
	return 0
}

// pump stores what was written since, and reports whether there was anything.
func (f *feed) pump(over bool) (news bool, err error) {
	for i := range f.streams {
		for {
			line, ok, err := f.streams[i].next(over)
			if err != nil {
				return news, err
			}
			if !ok {
				break
			}
			news = true
			f.rawBatch = append(f.rawBatch, agents.Raw(line, i == 1)...)
			f.take(line, i == 1)
			if f.batched += len(line); f.batched > batchBytes {
				if err := f.flush(); err != nil {
					return news, err
				}
			}
		}
	}
	return news, f.flush()
}

// take has a line decoded.
func (f *feed) take(line []byte, isError bool) {
	for _, e := range f.dec.Line(line, isError, f.now()) {
		f.add(e)
	}
}

func (f *feed) add(e agents.Entry) {
	if f.stored > 0 {
		f.stored--
		return
	}
	f.normBatch = append(f.normBatch, e)
}

// flush stores the batches, the raw entries first: the others follow from them.
func (f *feed) flush() error {
	err := f.raw.Append(f.rawBatch...)
	if err == nil {
		err = f.norm.Append(f.normBatch...)
	}
	f.rawBatch, f.normBatch, f.batched = f.rawBatch[:0], f.normBatch[:0], 0
	return err
}

// sync makes what is stored survive a power cut.
func (f *feed) sync() error { return errors.Join(f.raw.Sync(), f.norm.Sync()) }

// stream is one stream of a process, cut into lines.
type stream struct {
	read  func(at int64, most int) (proc.Output, error)
	at    int64
	cut   agents.Lines
	lines [][]byte
	ended bool
}

// next returns the next line, if there is one yet. Once the process is over, a last line
// needs no newline.
func (s *stream) next(over bool) (line []byte, ok bool, err error) {
	for len(s.lines) == 0 {
		out, err := s.read(s.at, chunkBytes)
		if err != nil {
			return nil, false, err
		}
		s.at = out.Next
		if len(out.Data) > 0 {
			err = s.cut.Feed(out.Data, s.hold)
		} else if over && !s.ended {
			s.ended = true
			err = s.cut.End(s.hold)
		} else {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	line, s.lines = s.lines[0], s.lines[1:]
	return line, true, nil
}

func (s *stream) hold(l agents.Line) error {
	s.lines = append(s.lines, bytes.Clone(l.Data))
	return nil
}

// userLine and errorLine are how a log shows what is no event of the agent's.
func userLine(prompt string) string { return logLine("user_message", prompt) }
func errorLine(text string) string  { return logLine("stderr", text) }

func logLine(kind, text string) string {
	raw, _ := json.Marshal(struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}{kind, text})
	return string(raw)
}
