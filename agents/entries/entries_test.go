package entries_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/fault"
)

const (
	session = "0197c2f4-0000-7000-8000-000000000001"
	turn    = "0197c2f4-0000-7000-8000-000000000002"
)

func raw(n int64) agents.Entry {
	return agents.Entry{Kind: agents.StdoutEntry, Text: fmt.Sprintf("line %d <&>", n)}
}

func appender(t testing.TB, s *entries.Store) *entries.Appender {
	t.Helper()
	a, err := s.Append(session, turn, entries.Raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func fill(t testing.TB, a *entries.Appender, n int64) {
	t.Helper()
	for a.Count() < n {
		if err := a.Append(raw(a.Count())); err != nil {
			t.Fatal(err)
		}
	}
}

func page(t testing.TB, s *entries.Store, q entries.Query) entries.Page {
	t.Helper()
	p, err := s.Page(session, turn, entries.Raw, q)
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range p.Entries {
		e, err := item.Decode()
		if err != nil || e != raw(item.Index) || i > 0 && item.Index != p.Entries[i-1].Index+1 {
			t.Fatalf("entry %d is %+v, %v", item.Index, e, err)
		}
	}
	return p
}

func at(n int64) *int64 { return &n }

// Whoever follows next_cursor sees each entry once, from the newest to the oldest; whoever
// follows next_after sees each once, from the oldest to the newest, however they are split.
func TestPagesLeaveNothingOutAndRepeatNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		s := entries.New(dir)
		a := appender(t, s)
		defer a.Close()
		n := rapid.Int64Range(0, 60).Draw(r, "entries")
		fill(t, a, n)
		limit, bytes := rapid.IntRange(1, 25).Draw(r, "limit"), rapid.SampledFrom([]int{0, 1, 100}).Draw(r, "bytes")

		var down []int64
		for q := (entries.Query{Limit: limit, MaxBytes: bytes}); ; {
			p := page(t, s, q)
			var ids []int64
			for _, item := range p.Entries {
				ids = append(ids, item.Index)
			}
			if len(ids) > limit || p.HasMore != (p.NextCursor != nil) {
				r.Fatalf("a page of %d, %+v", len(ids), p)
			}
			down = append(ids, down...)
			if q.Before = p.NextCursor; q.Before == nil {
				break
			}
		}
		var up []int64
		for q := (entries.Query{Limit: limit, MaxBytes: bytes, After: at(-1)}); ; {
			p := page(t, s, q)
			for _, item := range p.Entries {
				up = append(up, item.Index)
			}
			if p.NextCursor != nil || *p.NextAfter != int64(len(up))-1 {
				r.Fatalf("%+v", p)
			}
			if q.After = p.NextAfter; !p.HasMore {
				break
			}
		}
		for _, seen := range [][]int64{down, up} {
			for i, id := range seen {
				if id != int64(i) {
					r.Fatalf("seen %v", seen)
				}
			}
			if int64(len(seen)) != n {
				r.Fatalf("seen %d of %d", len(seen), n)
			}
		}
	})
}

func TestAReaderFindsWhatComesLater(t *testing.T) {
	t.Parallel()
	s := entries.New(t.TempDir())
	if p := page(t, s, entries.Query{Limit: 5}); len(p.Entries) != 0 || p.NextAfter != nil || p.HasMore {
		t.Fatalf("before the first: %+v", p)
	}
	a := appender(t, s)
	fill(t, a, 3)
	p := page(t, s, entries.Query{Limit: 5})
	if len(p.Entries) != 3 || p.NextCursor != nil || *p.NextAfter != 2 || p.Total != 3 {
		t.Fatalf("%+v", p)
	}
	next := page(t, s, entries.Query{Limit: 5, After: p.NextAfter})
	if len(next.Entries) != 0 || next.HasMore || *next.NextAfter != 2 {
		t.Fatalf("nothing is new: %+v", next)
	}
	fill(t, a, 10)
	next = page(t, s, entries.Query{Limit: 5, After: p.NextAfter})
	if len(next.Entries) != 5 || next.Entries[0].Index != 3 || !next.HasMore || *next.NextAfter != 7 {
		t.Fatalf("%+v", next)
	}
	for _, beyond := range []int64{9, 10, 1 << 60} {
		if p := page(t, s, entries.Query{Limit: 5, After: &beyond}); len(p.Entries) != 0 || *p.NextAfter != beyond {
			t.Errorf("after %d: %+v", beyond, p)
		}
	}
	if p := page(t, s, entries.Query{Limit: 5, Before: at(0)}); len(p.Entries) != 0 || p.NextCursor != nil {
		t.Errorf("before the first: %+v", p)
	}
	if _, err := s.Page(session, turn, entries.Raw, entries.Query{Limit: 1, Before: at(1), After: at(1)}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("both: %v", err)
	}
}

// Whatever the end of either file is after a crash, the entries that are left are the first
// ones, whole, and appending goes on behind them.
func TestACrashInTheMiddleOfAnAppendIsRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := entries.New(dir)
	a := appender(t, s)
	fill(t, a, 20)
	a.Close()
	base := filepath.Join(dir, session, turn, "raw")
	data, index := read(t, base+".ndjson"), read(t, base+".index")
	b := appender(t, entries.New(filepath.Join(dir, "other")))
	fill(t, b, 22)
	want := read(t, filepath.Join(dir, "other", session, turn, "raw.ndjson"))
	for name, c := range map[string]struct {
		data, index []byte
		least       int64
	}{
		"half an entry":               {append(clip(data), `{"type":"STD`...), index, 20},
		"half a long entry":           {append(clip(data), `{"type":"STDOUT","content":"`+strings.Repeat("x", 1000)...), index, 20},
		"an entry without an index":   {data, index[:19*8], 20},
		"half an offset":              {data, index[:19*8+3], 20},
		"no index":                    {data, nil, 20},
		"an index without its entry":  {data[:len(data)-5], index, 19},
		"no data":                     {nil, index, 0},
		"zeros for the last entry":    {zeroed(data, 10), index, 19},
		"zeros behind the last entry": {append(clip(data), 0, 0, 0, '\n', 0), index, 20},
		"zeros in the index":          {data, zeroed(index, 16), 20},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, base+".ndjson", c.data)
			write(t, base+".index", c.index)
			if p, err := s.Page(session, turn, entries.Raw, entries.Query{Limit: 100}); p.Total > 20 || err != nil && c.data != nil {
				t.Errorf("a reader before the repair: %d entries, %v", p.Total, err)
			}
			a := appender(t, s)
			if a.Count() != c.least {
				t.Errorf("%d entries are left, not %d", a.Count(), c.least)
			}
			fill(t, a, 22)
			if p := page(t, s, entries.Query{Limit: 100}); len(p.Entries) != 22 {
				t.Errorf("%d entries", len(p.Entries))
			}
			a.Close()
			if diff := cmp.Diff(string(want), string(read(t, base+".ndjson"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func clip(b []byte) []byte { return b[:len(b):len(b)] }

func zeroed(b []byte, n int) []byte {
	out := append([]byte{}, b...)
	clear(out[len(out)-n:])
	return out
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyOneAppends(t *testing.T) {
	t.Parallel()
	s := entries.New(t.TempDir())
	a := appender(t, s)
	if _, err := s.Append(session, turn, entries.Raw); !fault.Is(err, fault.RunLocked) {
		t.Errorf("a second appender: %v", err)
	}
	if b, err := s.Append(session, turn, entries.Normalized); err != nil {
		t.Errorf("another channel: %v", err)
	} else {
		b.Close()
	}
	a.Close()
	appender(t, s)
}

func TestANameThatIsNoFolderIsRefused(t *testing.T) {
	t.Parallel()
	s := entries.New(t.TempDir())
	for _, name := range []string{"", "..", "a/b", "a\x00", ".", "é"} {
		if _, err := s.Append(name, turn, entries.Raw); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("session %q: %v", name, err)
		}
		if _, err := s.Page(session, name, entries.Raw, entries.Query{}); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("turn %q: %v", name, err)
		}
		if err := s.Remove(name); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("removed %q: %v", name, err)
		}
	}
}

func TestAnEntryComesBackAsItWas(t *testing.T) {
	t.Parallel()
	code := 3
	when := time.Date(2026, 9, 1, 10, 0, 0, 5e6, time.UTC)
	all := []agents.Entry{
		{Kind: agents.StderrEntry, Text: "warning\u2028"},
		{Kind: agents.NormalizedEntry, Norm: &agents.Normalized{Timestamp: when, Content: "$ make", Metadata: &agents.Metadata{CallID: "item_1"},
			Type: agents.EntryType{Name: agents.ToolUse, ToolName: "shell", Status: &agents.ToolStatus{State: agents.ToolFailed},
				Action: &agents.Action{Name: agents.CommandRun, Command: "make", Run: &agents.RunResult{
					Output: "no rule", ExitStatus: &agents.ExitStatus{Name: "exit_code", Code: &code}}}}}},
	}
	s := entries.New(t.TempDir())
	a, err := s.Append(session, turn, entries.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Append(all...); err != nil {
		t.Fatal(err)
	}
	p, err := s.Page(session, turn, entries.Normalized, entries.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var back []agents.Entry
	for _, item := range p.Entries {
		e, err := item.Decode()
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, e)
	}
	if diff := cmp.Diff(all, back); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkPageOfAMillionEntries(b *testing.B) {
	s := entries.New(b.TempDir())
	a := appender(b, s)
	batch := make([]agents.Entry, 1000)
	for a.Count() < 1_000_000 {
		for i := range batch {
			batch[i] = raw(a.Count() + int64(i))
		}
		if err := a.Append(batch...); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]entries.Query{
		"newest": {Limit: 200}, "middle": {Limit: 200, Before: at(500_000)}, "oldest": {Limit: 200, After: at(-1)}, "most": {Limit: 1000},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, err := s.Page(session, turn, entries.Raw, q); err != nil || len(p.Entries) != q.Limit {
					b.Fatal(len(p.Entries), err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	a := appender(b, entries.New(b.TempDir()))
	for b.Loop() {
		if err := a.Append(raw(a.Count())); err != nil {
			b.Fatal(err)
		}
	}
}
