package page

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// Each file of testdata/parse holds a page and what is read of it.
func TestParseReadsPages(t *testing.T) {
	files, err := filepath.Glob("testdata/parse/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src, want := archive.Files[0].Data, string(archive.Files[1].Data)
			got := describe(t, src)
			if os.Getenv("UPDATE") != "" {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			crlf := bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
			if diff := cmp.Diff(want, strings.ReplaceAll(describe(t, crlf), `\r\n`, `\n`)); diff != "" {
				t.Error("with CR LF line ends:\n" + diff)
			}
		})
	}
}

// describe lists what Parse found, one thing a line.
func describe(t *testing.T, src []byte) string {
	t.Helper()
	p, err := Parse("page.md", src)
	if err != nil {
		return fmt.Sprintf("error %v\n", err)
	}
	var out strings.Builder
	if p.Front.Format != "" {
		fmt.Fprintf(&out, "%s %d-%d\n", p.Front.Format, p.Front.Line, p.Front.EndLine)
	}
	if p.Front.Err != nil {
		fmt.Fprintf(&out, "front matter error at %d: %v\n", p.Front.ErrLine, p.Front.Err)
	}
	for _, f := range p.Front.Fields {
		fmt.Fprintf(&out, "field %d %s %s %q %q\n", f.Line, f.Key, f.Type, f.Text, f.Items)
	}
	for _, h := range p.Headings {
		fmt.Fprintf(&out, "heading %d h%d #%s %q\n", h.Line, h.Level, h.ID, h.Text)
		if !p.HasAnchor(h.ID) {
			t.Errorf("heading %q is no anchor", h.ID)
		}
	}
	for _, l := range p.Links {
		fmt.Fprintf(&out, "link %d %s image=%t ref=%t %q %q\n", l.Line, l.Kind, l.Image, l.IsRef, l.Dest, src[l.Start:l.End])
	}
	for _, f := range p.Fences {
		fmt.Fprintf(&out, "fence %d-%d %q %s %q\n", f.Line, f.EndLine, f.Info, f.SnippetID, f.Content)
	}
	for _, s := range p.Statements {
		fmt.Fprintf(&out, "statement %d %v %q\n", s.Line, s.ClaimIDs, s.Text)
	}
	for _, c := range p.Claims {
		fmt.Fprintf(&out, "claim %d %s\n", c.Line, c.ID)
	}
	for _, s := range p.Shortcodes {
		fmt.Fprintf(&out, "shortcode %d %s closing=%t %q\n", s.Line, s.Name, s.Closing, s.Args)
	}
	return out.String()
}

func TestParseRefusesWhatIsNoPage(t *testing.T) {
	for name, src := range map[string]string{
		"too large":        strings.Repeat("a\n", MaxSize),
		"binary":           "a\x00b",
		"broken UTF-8":     "# caf\xe9\n",
		"deep quotes":      strings.Repeat("> ", 1000) + "x\n",
		"deep lists":       strings.Repeat("- ", 1000) + "x\n",
		"a line of markup": strings.Repeat("[a](", 5000) + "\n",
	} {
		if _, err := Parse("p.md", []byte(src)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// hostilePages returns pages of at most size bytes that are as hard to read as they
// can be.
func hostilePages(size int) map[string]string {
	lines := func(s string) string { return strings.Repeat(s, size/len(s)) }
	nested := func(unit string) string {
		var b strings.Builder
		for i := 0; b.Len() < size-4096 && i < 1400; i++ {
			b.WriteString(strings.Repeat("  ", i) + unit)
		}
		return b.String()
	}
	pages := map[string]string{
		"same headings":   lines("# a\n"),
		"open brackets":   lines("[[[[[[[[ \n"),
		"images":          lines("![![![![ \n"),
		"emphasis":        lines("*a **b _c \n"),
		"backticks":       lines("` `` ``` ```` x\n"),
		"long line":       strings.Repeat("a", size),
		"references":      lines("[a]: b\n\n"),
		"tables":          "|a|b|\n|-|-|\n" + lines("|a|b|\n"),
		"wide table":      strings.Repeat("|a", 1000) + "\n" + strings.Repeat("|-", 1000) + "\n" + strings.Repeat("|\n", 100000),
		"shortcodes":      lines("{{<a>}}"),
		"open shortcodes": lines("{{< a\n"),
		"html":            lines("<div "),
		"comments":        lines("<!-- \n\n"),
		"markers":         lines("<!-- claim_id: \n"),
		"nested lists":    nested("- a\n"),
		"deep list":       nested("1. a\n"),
		"quotes":          lines(strings.Repeat(">", MaxNesting) + "a\n"),
		"footnotes":       lines("[^1]: a\n\n"),
		"links":           lines("https://a.b/c "),
		"yaml brackets":   "---\na: " + strings.Repeat("[", 60000) + "\n---\n",
		"yaml braces":     "---\na: " + strings.Repeat("{a: ", 20000) + "\n---\n",
		"yaml keys":       "---\n" + lines("a: b\n") + "---\n",
		"yaml nesting":    "---\n" + nested("a:\n") + "---\n",
		"yaml sequence":   "---\na: " + strings.Repeat("- ", 100000) + "\n---\n",
		"json nesting":    strings.Repeat(`{"a":`, 100000),
		"toml nesting":    "+++\na = " + strings.Repeat("[", 100000) + "\n+++\n",
	}
	for name, src := range pages {
		pages[name] = src[:min(len(src), size)]
	}
	return pages
}

// Reading ends, with a page or a refusal. How long it takes is a benchmark's matter.
func TestHostilePagesAreReadOrRefused(t *testing.T) {
	for name, src := range hostilePages(MaxSize / 8) {
		p, err := Parse("p.md", []byte(src))
		if (p == nil) == (err == nil) {
			t.Errorf("%s: page %v, error %v", name, p != nil, err)
		}
	}
}

func BenchmarkHostilePages(b *testing.B) {
	for name, src := range hostilePages(MaxSize) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				_, _ = Parse("p.md", []byte(src)) // refusing is as good
			}
		})
	}
}
