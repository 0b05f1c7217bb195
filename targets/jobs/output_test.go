package jobs

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

func size(lines []string) int { return len(strings.Join(lines, "\n")) }

func TestOutputIsTheLastLinesWithinOneMessage(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("count", patience, nil)
	if !s.Truncated || len(s.Output) > MessageBytes || !strings.HasSuffix(s.Output, "line 2000\n") {
		t.Errorf("truncated %v, %d bytes", s.Truncated, len(s.Output))
	}
	get := func(r OutputRequest) Output {
		t.Helper()
		out, err := p.Output(t.Context(), "", s.PID, r)
		if err != nil {
			t.Fatal(err)
		}
		if out.TotalLines != 2000 || out.TotalBytes != 18893 || size(out.Lines) > MessageBytes+100 {
			t.Errorf("%d lines, %d bytes, a message of %d", out.TotalLines, out.TotalBytes, size(out.Lines))
		}
		return out
	}
	out := get(OutputRequest{})
	if len(out.Lines) != DefaultLines || out.Lines[199] != "line 2000" || out.Lines[0] != "line 1801" || !out.Truncated || !out.Full || out.Next != out.TotalBytes {
		t.Errorf("%d lines from %q, truncated %v, full %v", len(out.Lines), out.Lines[0], out.Truncated, out.Full)
	}
	out = get(OutputRequest{Lines: 3, Mark: true})
	if want := []string{"[1997 older lines, 18863 bytes, left out]", "line 1998", "line 1999", "line 2000"}; !slices.Equal(out.Lines, want) {
		t.Errorf("%q", out.Lines)
	}
	out = get(OutputRequest{Lines: 5000})
	if last := out.Lines[len(out.Lines)-1]; last != "line 2000" || size(out.Lines) < MessageBytes-20 {
		t.Errorf("%d bytes to %q", size(out.Lines), last)
	}
}

func TestOutputIsReadOnFromWhereAMessageEnded(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("count", patience, nil)
	var all strings.Builder
	messages := 0
	for from := int64(0); ; messages++ {
		out, err := p.Output(t.Context(), "", s.PID, OutputRequest{From: &from, Lines: 1000, Mark: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Lines) == 0 {
			if out.Next != from {
				t.Errorf("at the end, %d leads to %d", from, out.Next)
			}
			break
		}
		if out.Next <= from || size(out.Lines) > MessageBytes || out.Truncated != (from > 0) {
			t.Fatalf("from %d to %d, %d bytes, truncated %v", from, out.Next, size(out.Lines), out.Truncated)
		}
		text := strings.Join(out.Lines, "\n")
		if len(text) < int(out.Next-from) {
			text += "\n"
		}
		all.WriteString(text)
		from = out.Next
	}
	if got := strings.Count(all.String(), "\n"); got != 2000 || !strings.HasSuffix(all.String(), "line 1999\nline 2000\n") || messages < 3 {
		t.Errorf("%d lines in %d messages", got, messages)
	}
	from := int64(7)
	out, err := p.Output(t.Context(), "", s.PID, OutputRequest{From: &from, Lines: 2})
	if err != nil || !slices.Equal(out.Lines, []string{"line 2", "line 3"}) || out.Next != 21 {
		t.Errorf("%q to %d: %v", out.Lines, out.Next, err)
	}
	far := int64(1) << 50
	if out, err := p.Output(t.Context(), "", s.PID, OutputRequest{From: &far}); err != nil || len(out.Lines) != 0 || out.Next != 18893 {
		t.Errorf("behind the end: %+v %v", out, err)
	}
}

func TestOutputThatIsNoTextFitsAMessageAndIsText(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("binary", patience, nil)
	if !utf8.ValidString(s.Output) || len(s.Output) > MessageBytes || !s.Truncated {
		t.Errorf("%d bytes", len(s.Output))
	}
	read, characters := int64(0), 0
	for from := int64(0); from < 20000; from = read {
		out, err := p.Output(t.Context(), "", s.PID, OutputRequest{From: &from})
		if err != nil || size(out.Lines) > MessageBytes || !utf8.ValidString(strings.Join(out.Lines, "")) {
			t.Fatalf("%d bytes: %v", size(out.Lines), err)
		}
		if read = out.Next; read <= from {
			t.Fatalf("stuck at %d", from)
		}
		characters += strings.Count(strings.Join(out.Lines, ""), "\uFFFD")
	}
	if characters != 20000 {
		t.Errorf("%d of 20000 bytes were told of", characters)
	}
}
