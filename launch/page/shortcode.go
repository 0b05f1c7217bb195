package page

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// Shortcode is one opening, closing or self-closing shortcode.
type Shortcode struct {
	Name    string   // "" if it is commented out, to be shown as it stands
	Args    []string // positional arguments, unquoted; named ones as name=value
	Closing bool
	Line    int
	Start   int // offset of {{
	End     int // offset after }}
}

var (
	shortcodeMark = lazyregexp.New(`(?s)\{\{<.*?>\}\}|\{\{%.*?%\}\}`)
	shortcodeWord = lazyregexp.New("(?s)(?:([A-Za-z_][\\w-]*)\\s*=\\s*)?(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|[^\\s\"`]+)")
)

// placeholder opens what stands for a shortcode while Markdown is parsed: this
// rune and the shortcode's number, as long as the shortcode. It is for private
// use and no letter, and digits are none either.
const placeholder = '\ue000'

// mask returns the body with its shortcodes replaced by placeholders, and what
// a highlight shortcode encloses blanked. The length stays.
func (p *Page) mask() []byte {
	body := bytes.Clone(p.Source[p.Body:])
	for _, at := range shortcodeMark.FindAllIndex(body, -1) {
		s := readShortcode(string(body[at[0]:at[1]]))
		s.Start, s.End = p.Body+at[0], p.Body+at[1]
		s.Line = p.Line(s.Start)
		number := strconv.Itoa(len(p.Shortcodes))
		room := at[1] - at[0] - len(string(placeholder))
		if len(number) > room {
			continue // ten thousand of the shortest: left as text
		}
		copy(body[at[0]:], string(placeholder)+strings.Repeat("0", room-len(number))+number)
		p.Shortcodes = append(p.Shortcodes, s)
	}
	p.maskHighlights(body)
	return body
}

// maskHighlights takes code that a highlight shortcode encloses out of the body.
func (p *Page) maskHighlights(body []byte) {
	for i := 0; i+1 < len(p.Shortcodes); i++ {
		open, end := p.Shortcodes[i], p.Shortcodes[i+1]
		if open.Name != "highlight" || open.Closing || end.Name != "highlight" || !end.Closing {
			continue
		}
		fence := Fence{Line: open.Line, EndLine: end.Line}
		if len(open.Args) > 0 {
			fence.Info = strings.ToLower(open.Args[0])
		}
		_, fence.Content, _ = strings.Cut(string(p.Source[open.End:end.Start]), "\n")
		p.Fences = append(p.Fences, fence)
		p.code = append(p.code, span{open.End, end.Start})
		for j := open.End - p.Body; j < end.Start-p.Body; j++ {
			if body[j] != '\n' {
				body[j] = ' '
			}
		}
	}
}

func readShortcode(text string) Shortcode {
	inner := strings.TrimSpace(text[3 : len(text)-3])
	var s Shortcode
	if strings.HasPrefix(inner, "/*") {
		return s // shown to the reader, not run
	}
	if rest, closing := strings.CutPrefix(inner, "/"); closing {
		s.Closing, inner = true, rest
	}
	for i, m := range shortcodeWord.FindAllStringSubmatch(inner, -1) {
		value := unquote(m[2])
		switch {
		case i == 0 && m[1] == "":
			s.Name = value
		case m[1] != "":
			s.Args = append(s.Args, m[1]+"="+value)
		case value != "/":
			s.Args = append(s.Args, value)
		}
	}
	return s
}

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain
		}
	}
	return strings.Trim(s, "\"`")
}

// ref returns the page that a ref or relref shortcode names.
func (s Shortcode) ref() (string, bool) {
	if s.Name != "ref" && s.Name != "relref" || len(s.Args) == 0 {
		return "", false
	}
	for _, arg := range s.Args {
		if path, ok := strings.CutPrefix(arg, "path="); ok {
			return path, true
		}
	}
	return s.Args[0], true
}

var placeholders = lazyregexp.New(fmt.Sprintf("%c[0-9]+", placeholder))

// shortcodeAt returns the shortcode that the text is the placeholder of.
func (p *Page) shortcodeAt(text string) (Shortcode, bool) {
	if placeholders.FindString(text) != text || text == "" {
		return Shortcode{}, false
	}
	n, err := strconv.Atoi(text[len(string(placeholder)):])
	if err != nil || n >= len(p.Shortcodes) {
		return Shortcode{}, false
	}
	return p.Shortcodes[n], true
}

// unmask puts the shortcodes back into text of the masked body.
func (p *Page) unmask(text string) string {
	return placeholders.ReplaceAllStringFunc(text, func(mark string) string {
		if s, ok := p.shortcodeAt(mark); ok {
			return string(p.Source[s.Start:s.End])
		}
		return mark
	})
}
