package pages

import (
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// writer puts lines together with the blank lines that Markdown wants.
type writer struct {
	*book
	out   strings.Builder
	last  kind
	level int // of headings within the block
}

// kind is what the last line was.
type kind int

const (
	nothing kind = iota
	prose
	list
	apart // stands between blank lines
)

func (w *writer) blank() {
	if w.out.Len() > 0 && !strings.HasSuffix(w.out.String(), "\n\n") {
		w.out.WriteByte('\n')
	}
}

func (w *writer) line(text string) { w.out.WriteString(text + "\n") }

func (w *writer) heading(level int, text string) {
	if text == "" {
		return
	}
	w.blank()
	w.line(strings.Repeat("#", level) + " " + escapeLabel(text))
	w.out.WriteByte('\n')
	w.last = apart
}

func (w *writer) item(it item) {
	switch {
	case it.heading != "":
		w.heading(w.level, it.heading)
	case it.snippet != "":
		w.snippet(it.snippet)
	case it.bullet > 0:
		if w.last != list {
			w.blank()
		}
		w.line(strings.Repeat("  ", it.bullet-1) + "- " + it.text + markers(it.claims))
		w.last = list
	default:
		if w.last != prose || it.gap {
			w.blank()
		}
		w.line(it.text + markers(it.claims))
		w.last = prose
	}
}

var fenceWord = lazyregexp.New(`^[a-z0-9][a-z0-9+#._-]*$`)

func (w *writer) snippet(id string) {
	language := w.snippets[id].Language
	if language == "unknown" || !fenceWord.MatchString(language) {
		language = "text"
	}
	code := w.escaped[id]
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	w.blank()
	if lead := inline(w.snippets[id].Lead, w.repo, w.snippets[id].Path); strings.HasSuffix(lead, ":") {
		w.line(lead)
		w.out.WriteByte('\n')
	}
	w.line("<!-- snippet_id: " + id + " -->")
	w.line(fence + language)
	w.out.WriteString(code)
	if !strings.HasSuffix(code, "\n") {
		w.out.WriteByte('\n')
	}
	w.line(fence)
	w.out.WriteByte('\n')
	w.last = apart
}

// done returns what was written with one blank line at the end.
func (w *writer) done() string {
	w.blank()
	return w.out.String()
}
