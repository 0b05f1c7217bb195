package taskcards

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestHostileCardsGiveAShortReport(t *testing.T) {
	for name, text := range map[string]string{
		"empty":            "",
		"only a mark":      "---",
		"two marks":        "---\n---\n",
		"a scalar":         "---\nhello\n---\n",
		"a list":           "---\n- a\n---\n",
		"two documents":    "---\na: b\n...\n---\nc: d\n---\n",
		"brackets":         "---\na: " + strings.Repeat("[", 60000) + "\n---\n",
		"braces":           "---\n" + strings.Repeat("{a: ", 15000) + "\n---\n",
		"nested list":      "---\n" + strings.Repeat("- ", 30000) + "x\n---\n",
		"nested keys":      "---\n" + strings.Repeat("? ", 30000) + "x\n---\n",
		"deep indentation": "---\n" + indented(340) + "---\n",
		"large front":      "---\na: " + strings.Repeat("x", maxFront) + "\n---\n",
		"many keys":        "---\n" + strings.Repeat("a: b\n", 10000) + "---\n",
		"alias bomb":       "---\na: &a [x,x]\nb: &b [*a,*a]\nid: *b\nallowed_paths: *b\n---\n",
		"self alias":       "---\nid: &a [*a]\n---\n",
		"merge":            "---\n<<: {id: TC-1}\n---\n",
		"tags":             "---\nid: !!binary AAAA\ntitle: !x y\nstatus: !!str\n---\n",
		"NUL":              "---\nid: TC-1\x00\n---\n",
		"not UTF-8":        "---\nid: \xff\xfe\n---\n",
		"many headings":    "---\nid: TC-1\n---\n" + strings.Repeat("## Scope\n", 100000),
		"many fences":      "---\nid: TC-1\n---\n" + strings.Repeat("```\n", 250000),
		"long line":        "---\nid: TC-1\n---\n## E2E verification\n" + strings.Repeat("'\"`TODO ", 120000),
		"many vague lines": "---\nid: TC-1\n---\n## E2E verification\n" + strings.Repeat("TODO\n", 200000),
		"escape codes":     "---\nid: \"TC-1\\e[31m\"\nallowed_paths: [\"src/\\e[2J\\n../../x\"]\n---\n",
		"large":            strings.Repeat("x", MaxSize+1),
	} {
		dir := project(t, map[string]string{folder + "/TC-1.md": text})
		r, err := Validate(dir, folder, "TC-1")
		if err != nil || r.Valid || len(r.Errors) == 0 || len(r.Errors) > MaxErrors || len([]rune(r.ID)) > 64 || strings.Contains(r.ID, "\x1b") {
			t.Errorf("%s: %.300v, %v", name, r, err)
		}
		for _, e := range r.Errors {
			if utf8.RuneCountInString(e.Message) > 500 || strings.ContainsAny(e.Message, "\x1b\x00\n") || e.Line < 0 {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if _, _, err := List(dir, folder); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestAPipeIsNotWaitedFor(t *testing.T) {
	dir := project(t, map[string]string{folder + "/TC-2.md": cardNamed("TC-2", "x")})
	if err := syscall.Mkfifo(filepath.Join(dir, folder, "TC-1.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, bad, err := List(dir, folder); err != nil || len(bad) != 1 {
		t.Errorf("%v, %v", bad, err)
	}
	if _, err := Validate(dir, folder, "TC-1"); err == nil {
		t.Error("a pipe was read")
	}
}

func TestFrontMatterThatNestsTooDeeplyIsNotParsed(t *testing.T) {
	for _, value := range []string{
		strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("{a: ", 100) + strings.Repeat("}", 100), "\n" + strings.Repeat("- ", 100) + "x",
	} {
		r := check("TC-1.md", []byte("---\na: "+value+"\n---\n"), nil)
		if len(r.Errors) == 0 || !strings.Contains(r.Errors[len(r.Errors)-1].Message, "nests too deeply") {
			t.Errorf("%.20q: %+v", value, r.Errors)
		}
	}
}
