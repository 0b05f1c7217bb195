package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Priorities of what a context holds: what matters more comes first.
const (
	priorityFiles   = 10
	priorityGit     = 8
	priorityDocker  = 7
	priorityOutput  = 6
	priorityTasks   = 5
	priorityOutline = 3
)

const (
	// MaxFiles is how many files a caller may name as those that it works on.
	MaxFiles = 20

	budgetTokens  = 20000
	charsPerToken = 4
	maxFileChars  = 10000
)

// Context is what somebody who comes to the project should see first.
type Context struct {
	Text      string // Markdown
	Sections  []Section
	Truncated bool // something was left out or cut
}

// Section is a part of a context.
type Section struct {
	Name     string
	Priority int
	Items    int // that are in the text
	Omitted  int // that did not fit
	Chars    int
}

// item is one thing that a section shows. It is shown whole or not at all.
type item struct {
	text string
	cut  bool // it is not all of what it stands for
}

// part is a section to be.
type part struct {
	name     string
	priority int
	items    []item
}

// Ask says what a context is for.
type Ask struct {
	Owner string   // whose tasks' output may be shown; "" for a local caller
	Files []string // that the caller works on; none: those that git says have changed
}

// Context gathers, in this order and as far as a budget of 20,000 tokens goes: the files
// that are worked on, the state of git, containers that failed, the output of the last
// task, the recipes that can be started, and the upper folders. A token is taken for four
// characters. The error is that of [Tree.ReadFile] for a file that was named.
func (t *Tree) Context(ctx context.Context, a Ask) (Context, error) {
	parts := []part{{name: "Active Files", priority: priorityFiles}}
	for _, path := range a.Files {
		if _, _, _, err := t.load(path, 0); err != nil {
			return Context{}, err
		}
		if it, ok := t.fileItem(path); ok {
			parts[0].items = append(parts[0].items, it)
		}
	}
	s, err := t.look(ctx)
	if err != nil {
		return Context{}, err
	}
	if len(a.Files) == 0 {
		parts[0].items = s.files
	}
	parts = append(parts, textPart("Git Status", priorityGit, fenced(s.git)))
	parts = append(parts, part{"Docker Status", priorityDocker, t.docker(ctx)})
	parts = append(parts, part{"Recent Output", priorityOutput, t.recent(ctx, a.Owner)})
	parts = append(parts, textPart("Tasks", priorityTasks, t.recipes(ctx)))
	parts = append(parts, textPart("Directory Tree", priorityOutline, fenced(s.outline)))
	return t.compose(s.branch, parts), nil
}

func textPart(name string, priority int, text string) part {
	if text == "" {
		return part{name: name, priority: priority}
	}
	return part{name, priority, []item{{text: text, cut: strings.Contains(text, "… (truncated)")}}}
}

// compose writes the sections, as far as the budget goes.
func (t *Tree) compose(branch string, parts []part) Context {
	var b strings.Builder
	fmt.Fprintf(&b, "# Project Context\n\nProject: %s\n", line(filepath.Base(t.root)))
	if branch != "" {
		fmt.Fprintf(&b, "Branch: %s\n", line(branch))
	}
	c := Context{Sections: []Section{}}
	room := budgetTokens*charsPerToken - utf8.RuneCountInString(b.String())
	for _, p := range parts {
		if len(p.items) == 0 {
			continue
		}
		s := Section{Name: p.name, Priority: p.priority}
		heading := "\n## " + p.name + "\n\n"
		for _, it := range p.items {
			text := it.text
			if s.Items == 0 {
				text = heading + text
			}
			n := utf8.RuneCountInString(text)
			if n > room {
				s.Omitted++
				c.Truncated = true
				continue
			}
			b.WriteString(text)
			room -= n
			s.Items, s.Chars = s.Items+1, s.Chars+n
			c.Truncated = c.Truncated || it.cut
		}
		c.Sections = append(c.Sections, s)
	}
	if c.Text = b.String(); len(c.Sections) == 0 {
		c.Text = "No project context available."
	}
	return c
}

// fileItem returns a file as an item, unless it is not text or may not be read.
func (t *Tree) fileItem(path string) (item, bool) {
	rel, data, size, err := t.load(path, maxFileChars*utf8.UTFMax)
	if err != nil || !text(data, size > int64(len(data))) {
		return item{}, false
	}
	content := string(data[:boundary(data, len(data))])
	shown := bounded(content, maxFileChars)
	return item{fmt.Sprintf("### %s\n\n%s\n", line(filepath.ToSlash(rel)), fenced(shown)), len(shown) != len(content)}, true
}

// fenced makes a text a block of code that nothing in it can end.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}
