package worktree

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// pattern is one line of a file of ignore rules.
type pattern struct {
	glob     string // for doublestar
	plain    bool   // the glob is a text
	again    bool   // the line began with !: what it matches is not ignored
	folders  bool   // only folders
	anchored bool   // it speaks of the path from its file's folder, and else of the last name
}

// parsePatterns returns the patterns of a file, in its order.
func parsePatterns(text string) (all []pattern) {
	text = strings.TrimPrefix(text, "\uFEFF")
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r")); ok {
			all = append(all, p)
		}
	}
	return all
}

// parsePattern reads a line as gitignore(5) says. A blank line, a comment and a line
// that can match nothing give no pattern.
func parsePattern(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	if rest, found := strings.CutPrefix(line, "!"); found {
		p.again, line = true, rest
	}
	if rest, found := strings.CutSuffix(line, "/"); found {
		p.folders, line = true, rest
	}
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if p.plain = !strings.ContainsAny(line, `*?[\`); p.plain {
		p.glob = line
		return p, true
	}
	p.glob = globOf(line)
	return p, doublestar.ValidatePattern(p.glob)
}

// trimSpaces removes the spaces at the end, except one that a backslash keeps.
func trimSpaces(line string) string {
	for strings.HasSuffix(line, " ") {
		slashes := len(line) - 1 - len(strings.TrimRight(line[:len(line)-1], `\`))
		if slashes%2 == 1 {
			break
		}
		line = line[:len(line)-1]
	}
	return line
}

// classes are the named ones of a bracket expression, over ASCII as git has them.
var classes = strings.NewReplacer(
	"[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:lower:]", "a-z", "[:upper:]", "A-Z",
	"[:space:]", " \t\r\n\v\f", "[:blank:]", " \t", "[:xdigit:]", "0-9a-fA-F", "[:punct:]", "!-/:-@[-`{-~",
	"[:cntrl:]", "\x01-\x1f\x7f", "[:print:]", " -~", "[:graph:]", "!-~",
)

// repeated is a run of ** that says no more than one of them.
var repeated = lazyregexp.New(`(^|/)(\*\*/)+`)

// globOf writes a pattern of git in the words of doublestar: it knows no classes by name,
// braces are alternatives to it, ] ends a class wherever it stands, and a/** is a too.
func globOf(line string) string {
	line = brackets(classes.Replace(line))
	line = strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, `\\`, `\\`, "{", `\{`, "}", `\}`).Replace(line)
	line = repeated.ReplaceAllString(line, "${1}**/")
	if line == "**" {
		return "**/*"
	}
	if rest, found := strings.CutSuffix(line, "/**"); found {
		return rest + "/**/*"
	}
	return line
}

// brackets escapes a ] that comes first in a class, which it does not end there.
func brackets(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		b.WriteByte(line[i])
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case line[i] == '[':
			n := class(line[i+1:])
			b.WriteString(n.text)
			i += n.length
		}
	}
	return b.String()
}

// bracket is what follows the [ of a class.
type bracket struct {
	text   string // as doublestar wants it
	length int    // in the line
}

func class(rest string) (c bracket) {
	if rest != "" && (rest[0] == '!' || rest[0] == '^') {
		c.text, c.length = rest[:1], 1
	}
	if strings.HasPrefix(rest[c.length:], "]") {
		c.text, c.length = c.text+`\]`, c.length+1
	}
	from := c.length
	for c.length < len(rest) && rest[c.length] != ']' {
		if rest[c.length] == '\\' {
			c.length++
		}
		c.length++
	}
	c.length = min(c.length+1, len(rest))
	c.text += rest[from:c.length]
	return c
}

// matches reports whether the pattern speaks of a path, which is relative to the folder
// of its file.
func (p pattern) matches(rel string, folder bool) bool {
	if p.folders && !folder {
		return false
	}
	if !p.anchored {
		rel = path.Base(rel)
	}
	if p.plain {
		return p.glob == rel
	}
	ok, err := doublestar.Match(p.glob, rel)
	return ok && err == nil
}
