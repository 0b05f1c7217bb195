package quickstart

import (
	"html"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

const maxReadme = 64 << 10 // bytes that are looked at

// readme is what an inference takes from a README.
type readme struct {
	title      string
	titleWords []string
	lead       string   // the title and the first paragraph
	text       string   // all of it that is looked at
	words      []string // of the text without addresses
}

var (
	addresses  = lazyregexp.New(`(?i)\b(?:https?|git|ssh)://[^\s)>"']*`)
	tags       = lazyregexp.New(`<[^<>]*>`)
	htmlTitle  = lazyregexp.New(`(?is)<h1[^>]*>(.*?)</h1>`)
	atxTitle   = lazyregexp.New(`^#{1,2}\s+(.+?)\s*#*$`)
	underline  = lazyregexp.New(`^(?:=+|-+|~+|\*+)$`)
	images     = lazyregexp.New(`!\[[^\]]*\]\([^)]*\)`)
	linkTarget = lazyregexp.New(`\]\([^)]*\)|\]\[[^\]]*\]`)
)

// readReadme reads Markdown, reStructuredText and plain text alike: it needs no
// more than a title, a first paragraph and words.
func readReadme(text string) readme {
	text = strings.ReplaceAll(clip(text, maxReadme), "\r\n", "\n")
	r := readme{text: text}
	lines := strings.Split(text, "\n")
	r.title = titleOf(text, lines)
	r.titleWords = wordsOf(r.title)
	r.lead = r.title + "\n" + firstParagraph(lines)
	r.words = wordsOf(text)
	return r
}

// titleOf finds the first heading: of Markdown, underlined, or of HTML.
func titleOf(text string, lines []string) string {
	fenced, tagged := false, false
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if m := atxTitle.FindStringSubmatch(line); m != nil {
			if title := plain(m[1]); title != "" {
				return title
			}
		}
		if i > 0 && len(line) >= 3 && underline.MatchString(line) {
			if title := plain(lines[i-1]); title != "" {
				return title
			}
		}
		if !tagged && strings.Contains(strings.ToLower(line), "<h1") {
			tagged = true // once: the search goes through all of the text
			if m := htmlTitle.FindStringSubmatch(text); m != nil && plain(m[1]) != "" {
				return plain(m[1])
			}
		}
	}
	return ""
}

// firstParagraph returns the first lines of prose: no heading, image, badge,
// directive or markup.
func firstParagraph(lines []string) string {
	var found []string
	for i, line := range lines {
		line = strings.TrimSpace(line)
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		prose := plain(line)
		heading := strings.HasPrefix(line, "#") || underline.MatchString(line) || len(next) >= 3 && underline.MatchString(next)
		if heading || prose == "" || strings.HasPrefix(line, "..") || strings.HasPrefix(line, ":") || strings.HasPrefix(line, "```") {
			if len(found) > 0 {
				break
			}
			continue
		}
		if found = append(found, prose); len(found) == 20 {
			break
		}
	}
	return strings.Join(found, "\n")
}

// plain takes images, tags, addresses and link targets off a line.
func plain(line string) string {
	line = images.ReplaceAllString(line, " ")
	line = tags.ReplaceAllString(line, " ")
	line = linkTarget.ReplaceAllString(line, "]")
	line = addresses.ReplaceAllString(line, " ")
	line = strings.Trim(html.UnescapeString(line), " \t*_`[]")
	if !strings.ContainsFunc(line, func(r rune) bool { return Slug(string(r)) != "" || r > 127 }) {
		return ""
	}
	return line
}

// wordsOf splits a text without its addresses into words as Slug does a name.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(addresses.ReplaceAllString(text, " ")), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}
