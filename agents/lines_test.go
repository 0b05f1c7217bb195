package agents_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/agents"
)

// However a stream is cut into pieces, it is the same lines, and their sizes add up to it.
func TestLinesDoNotDependOnThePieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-c]{0,5}\r?`)).Draw(r, "lines")
		stream := strings.Join(want, "\n")
		var got []string
		var size int64
		take := func(l agents.Line) error { got = append(got, string(l.Data)); size += l.Size; return nil }
		var lines agents.Lines
		for rest := []byte(stream); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "piece")
			lines.Feed(rest[:n], take)
			rest = rest[n:]
		}
		lines.End(take)
		if len(want) > 0 && want[len(want)-1] == "" {
			want = want[:len(want)-1] // the newline of the line before
		}
		for i := range want {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || size != int64(len(stream)) {
			r.Fatalf("%q, %d bytes of %d, want %q", got, size, len(stream), want)
		}
	})
}

func TestALineOf50MBIsHeldInPart(t *testing.T) {
	t.Parallel()
	var lines agents.Lines
	var got []agents.Line
	take := func(l agents.Line) error {
		l.Data = bytes.Clone(l.Data)
		got = append(got, l)
		return nil
	}
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range 50 {
		lines.Feed(piece, take)
	}
	lines.Feed([]byte("\nnext\n"), take)
	if len(got) != 2 || len(got[0].Data) != agents.MaxLine+1 || got[0].Size != 50<<20+1 || string(got[1].Data) != "next" {
		t.Fatalf("%d lines, the first of %d bytes, %d in the stream", len(got), len(got[0].Data), got[0].Size)
	}
	raw := agents.Raw(got[0].Data, false)
	if len(raw) != 17 || len(raw[0].Text) != 1<<20 {
		t.Errorf("%d raw entries", len(raw))
	}
}

func TestARawLineIsSafeToShow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<20)
	var joined strings.Builder
	for _, e := range agents.Raw([]byte(long), true) {
		if e.Kind != agents.StderrEntry || !utf8.ValidString(e.Text) || strings.Contains(e.Text, "\uFFFD") {
			t.Fatalf("%s with a broken character", e.Kind)
		}
		joined.WriteString(e.Text)
	}
	if joined.String() != long {
		t.Error("something is missing")
	}
	if raw := agents.Raw([]byte("\x1b[31mred\x1b[0m \xff"), false); len(raw) != 1 || raw[0].Text != "red \uFFFD" {
		t.Errorf("%+v", raw)
	}
}
