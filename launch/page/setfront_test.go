package page

import (
	"bytes"
	"strings"
	"testing"
)

func TestSetFrontmatterChangesOneKeyAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct{ src, key, value, want string }{
		"add":             {"---\na: 1 # x\n---\nText\n", "title", `"A: b"`, "---\na: 1 # x\ntitle: \"A: b\"\n---\nText\n"},
		"replace":         {"---\ntitle: old # why\nb:   2\n---\nText", "title", "new", "---\ntitle: new # why\nb:   2\n---\nText"},
		"replace a list":  {"---\ntags:\n  - a\n  - b\n\n# next\nb: 2\n---\n", "tags", "x", "---\ntags: x\n\n# next\nb: 2\n---\n"},
		"replace a text":  {"---\nd: |\n  one\n  two\nb: 2\n---\n", "d", "x", "---\nd: x\nb: 2\n---\n"},
		"no value":        {"---\ntitle:\n---\n", "title", "x", "---\ntitle: x\n---\n"},
		"hash in quotes":  {"---\ntitle: \"a # b\"\n---\n", "title", "x", "---\ntitle: x\n---\n"},
		"CR LF":           {"---\r\na: 1\r\n---\r\nText\r\n", "b", "2", "---\r\na: 1\r\nb: 2\r\n---\r\nText\r\n"},
		"no front matter": {"# Text\n", "title", "x", "---\ntitle: x\n---\n\n# Text\n"},
		"empty page":      {"", "title", "x", "---\ntitle: x\n---\n"},
		"empty block":     {"---\n---\nText\n", "title", "x", "---\ntitle: x\n---\nText\n"},
		"TOML add":        {"+++\na = 1\n[p]\nb = 2\n+++\nText\n", "title", `'it''s "x"'`, "+++\ntitle = \"it's \\\"x\\\"\"\na = 1\n[p]\nb = 2\n+++\nText\n"},
		"TOML replace":    {"+++\na = [\n 1,\n 2,\n]\nb = 2\n+++\n", "a", "true", "+++\na = true\nb = 2\n+++\n"},
		"TOML date":       {"+++\na = 1\n+++\n", "date", "2024-01-02", "+++\ndate = 2024-01-02\na = 1\n+++\n"},
		"JSON add":        {"{\"a\": 1}\nText\n", "title", "x", "{\n  \"title\": \"x\",\"a\": 1}\nText\n"},
		"JSON replace":    {"{\"a\": {\"a\": 1}, \"b\": 2}\nText\n", "a", "<x>", "{\"a\": \"<x>\", \"b\": 2}\nText\n"},
	} {
		got, err := SetFrontmatter([]byte(c.src), c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v\nwant %q", name, got, err, c.want)
		}
	}
}

func TestSetFrontmatterRefusesWhatItCannotDoSafely(t *testing.T) {
	for name, c := range map[string]struct{ src, key, value string }{
		"two lines":      {"---\na: 1\n---\n", "title", "x\nevil: 1"},
		"a list":         {"---\na: 1\n---\n", "title", "[a]"},
		"a mapping":      {"---\na: 1\n---\n", "title", "b: c"},
		"an open quote":  {"---\na: 1\n---\n", "title", `"x`},
		"nothing":        {"---\na: 1\n---\n", "title", " "},
		"a strange key":  {"---\na: 1\n---\n", "a: b", "x"},
		"broken":         {"---\na: [\n---\n", "title", "x"},
		"unclosed":       {"---\na: 1\n", "title", "x"},
		"a flow mapping": {"---\n{a: 1}\n---\n", "title", "x"},
		"binary":         {"\x00", "title", "x"},
	} {
		if got, err := SetFrontmatter([]byte(c.src), c.key, c.value); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestEditsTouchOnlyTheirPlace(t *testing.T) {
	src := "a\n\nUse [the *docs*](x.md \"t\") and ![i](i.png) or [r][r].\n\n[r]: r.md\n<img src=\"old\">\n"
	p, err := Parse("p.md", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range p.Links {
		got = append(got, string(p.Relink(l, "/new x/")))
		if out, ok := p.Unlink(l); ok {
			got = append(got, string(out))
		}
	}
	line := func(s string) string {
		return strings.Replace(src, "Use [the *docs*](x.md \"t\") and ![i](i.png) or [r][r].", s, 1)
	}
	want := []string{
		line("Use [the *docs*](</new x/>) and ![i](i.png) or [r][r]."), line("Use the *docs* and ![i](i.png) or [r][r]."),
		line("Use [the *docs*](x.md \"t\") and ![i](</new x/>) or [r][r]."), line("Use [the *docs*](x.md \"t\") and  or [r][r]."),
		line("Use [the *docs*](x.md \"t\") and ![i](i.png) or [r](</new x/>)."), line("Use [the *docs*](x.md \"t\") and ![i](i.png) or r."),
		strings.Replace(src, "old", "/new x/", 1),
	}
	if strings.Join(got, "\n--\n") != strings.Join(want, "\n--\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n--\n"), strings.Join(want, "\n--\n"))
	}
	if out := string(p.RemoveLine(3)); out != "a\n\n[r]: r.md\n<img src=\"old\">\n" {
		t.Errorf("RemoveLine: %q", out)
	}
	if out := string(p.InsertAtLineEnd(1, " <!-- x -->")); !strings.HasPrefix(out, "a <!-- x -->\n\n") {
		t.Errorf("InsertAtLineEnd: %q", out)
	}
}

// Parse never panics, what it returns lies within the page, and a key that was
// set reads back while the body stays.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\na: 1\n---\n# x\n", "+++\na = 1\n+++\n[a](b)", "{\"a\": 1}\n- {{< ref \"x\" >}}", "\ufeff---\r\na: *x\r\n---\r\n",
		"| a | b |\n|---|---|\n| c | <!-- claim_id: c0 --> |", "<div>\n<a href=x>", "> - ```go\n> x", "[a]: b\n\n![a][a]", "{{<a>}}{{% b",
		"---\na: !!binary |\n---\n", "a:\n\n1. b\n\n   :  c", "[^1]\n\n[^1]: x\n", "# a {#b .c d=e}\n***a** `b", "---\n&a : b\n? c\n---",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("p.md", src)
		if err != nil {
			return
		}
		for _, l := range p.Links {
			if l.Start < 0 || l.Start > l.End || l.End > len(src) || l.Line < 1 {
				t.Fatalf("link out of the page: %+v", l)
			}
			p.Relink(l, "x")
			p.Unlink(l)
		}
		for _, s := range p.Statements {
			if s.Line < 1 || s.Line > len(p.lines) {
				t.Fatalf("statement out of the page: %+v", s)
			}
			p.RemoveLine(s.Line)
		}
		out, err := SetFrontmatter(src, "title", "'a b'")
		if err != nil {
			return
		}
		again, err := Parse("p.md", out)
		if err != nil {
			t.Fatalf("cannot read what was set: %v", err)
		}
		if got, _ := again.Front.Field("title"); got.Text != "a b" {
			t.Fatalf("title is %+v in %q", got, out)
		}
		if !bytes.HasSuffix(out, bytes.TrimLeft(src[p.Body:], "\r\n")) {
			t.Fatalf("the body changed: %q", out)
		}
	})
}
