package sessions

import (
	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// LogQuery says which lines of a log are wanted.
type LogQuery struct {
	After    *int64 // those behind so many lines, the oldest first; nil: the last ones
	Limit    int    // the most lines, at least 1
	MaxBytes int    // the most bytes; of a line that is longer than half of that, its beginning. 1 MiB when 0
}

// Log is a piece of a session's log: what the agent wrote, line by line, and before each
// turn's the prompt. Errors are lines of their own: {"type":"stderr","message"}.
type Log struct {
	Lines []string
	First int64 // how many lines are before the first
	Total int64
}

// Next returns the After of what is newer.
func (l Log) Next() int64 { return l.First + int64(len(l.Lines)) }

// Log returns lines of a session's log.
func (s *Sessions) Log(owner string, id runs.ID, q LogQuery) (Log, error) {
	v, err := s.view(owner, id)
	if err != nil {
		return Log{}, err
	}
	return s.o.log(v, q)
}

func (o Options) log(v *runs.View, q LogQuery) (Log, error) {
	parts, err := o.logParts(v)
	if err != nil {
		return Log{}, err
	}
	var total int64
	for _, p := range parts {
		total += p.lines
	}
	from := q.First(total)
	lines, err := readParts(parts, from, max(1, q.Limit))
	return q.Fit(Log{lines, from, total}), err
}

// First returns which line is the first that is wanted, of so many.
func (q LogQuery) First(total int64) int64 {
	if q.After != nil {
		return min(max(*q.After, 0), total)
	}
	return max(0, total-int64(max(1, q.Limit)))
}

// Fit leaves out what is too much: of the last lines the first, else the last.
func (q LogQuery) Fit(l Log) Log {
	room := q.MaxBytes
	if room <= 0 {
		room = 1 << 20
	}
	size := 0
	for i, line := range l.Lines {
		l.Lines[i] = clip(line, room/2)
		size += len(l.Lines[i])
	}
	for len(l.Lines) > 1 && size > room {
		if q.After == nil {
			size -= len(l.Lines[0])
			l.Lines, l.First = l.Lines[1:], l.First+1
		} else {
			last := len(l.Lines) - 1
			size -= len(l.Lines[last])
			l.Lines = l.Lines[:last]
		}
	}
	return l
}

// logPart is a run of lines of a log.
type logPart struct {
	lines int64
	read  func(from int64, limit int) ([]string, error)
}

// logParts returns the parts of a session's log: what was there before it, and for each
// turn the prompt and what the agent wrote.
func (o Options) logParts(v *runs.View) ([]logPart, error) {
	in, err := inputOf(v)
	if err != nil {
		return nil, err
	}
	var parts []logPart
	if in.Before.Lines > 0 {
		parts = append(parts, logPart{in.Before.Lines, func(from int64, limit int) ([]string, error) {
			store := taskstore.Open(in.View)
			f, err := store.Find(in.Thread)
			if err != nil {
				return nil, err
			}
			return store.Lines(f, from, limit)
		}})
	}
	for _, w := range turns(v) {
		turn := TurnID(v.RunID, w.Visit)
		n, err := o.Entries.Count(string(v.RunID), turn, entries.Raw)
		if err != nil {
			return nil, err
		}
		parts = append(parts, logPart{1, func(int64, int) ([]string, error) {
			a, err := askOf(v, in, w)
			if err != nil {
				return nil, err
			}
			prompt, err := a.whole(o.Store.Dir(v.RunID))
			return []string{userLine(clip(prompt, maxSaid))}, err
		}}, logPart{n, func(from int64, limit int) ([]string, error) { return o.rawLines(v.RunID, turn, from, limit) }})
	}
	return parts, nil
}

func (o Options) rawLines(id runs.ID, turn string, from int64, limit int) ([]string, error) {
	after := from - 1
	page, err := o.Entries.Page(string(id), turn, entries.Raw, entries.Query{Limit: limit, After: &after})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range page.Entries {
		e, err := item.Decode()
		if err != nil {
			return nil, err
		}
		if e.Kind == agents.StderrEntry {
			e.Text = errorLine(e.Text)
		}
		out = append(out, e.Text)
	}
	return out, nil
}

// readParts returns lines of parts as if they were one.
func readParts(parts []logPart, from int64, limit int) (out []string, err error) {
	for _, p := range parts {
		if from >= p.lines {
			from -= p.lines
			continue
		}
		for from < p.lines && len(out) < limit {
			got, err := p.read(from, min(limit-len(out), int(p.lines-from)))
			if err != nil || len(got) == 0 {
				return out, err
			}
			out, from = append(out, got...), from+int64(len(got))
		}
		from = 0
	}
	return out, nil
}

// logBefore returns how much the log of a conversation holds that Gantry goes on with.
func logBefore(in input) (before, error) {
	store := taskstore.Open(in.View)
	f, err := store.Find(in.Thread)
	if fault.Is(err, fault.SessionNotFound) {
		return before{}, nil
	}
	if err != nil {
		return before{}, err
	}
	lines, size, err := store.LogSize(f)
	return before{lines, size}, err
}
