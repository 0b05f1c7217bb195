package worktree

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/git"
)

// The bounds of what is said of the state of a work tree.
const (
	maxState   = 2000 // characters
	maxCounted = 200  // files whose lines are counted
	maxLooked  = 2000 // changed files that are looked at for the latest
	maxActive  = 10   // files that are shown as those that are worked on
)

// describe adds what git says. What git cannot say is left out.
func (s *survey) describe(ctx context.Context, t *Tree, top string) {
	st, err := t.o.Git.Status(ctx, t.root)
	if err != nil {
		return
	}
	prefix, err := filepath.Rel(top, t.root)
	if err != nil {
		return
	}
	s.branch = st.Branch
	st.Entries = within(st.Entries, filepath.ToSlash(prefix))
	text := shortStatus(st)
	if stat := t.diffStat(ctx, st, filepath.ToSlash(prefix)); stat != "" {
		text += "\n" + stat
	}
	s.git = bounded(text, maxState)
	s.files = t.active(st)
}

// within returns the entries below a folder of the repository, by path from there.
func within(all []git.StatusEntry, prefix string) (out []git.StatusEntry) {
	if prefix == "." {
		return all
	}
	for _, e := range all {
		if rest, in := strings.CutPrefix(e.Path, prefix+"/"); in {
			e.Path = rest
			out = append(out, e)
		}
	}
	return out
}

// shortStatus is what git status --short --branch prints.
func shortStatus(st git.Status) string {
	var b strings.Builder
	switch {
	case st.Branch == "":
		b.WriteString("## HEAD (no branch)")
	case st.Head == "":
		b.WriteString("## No commits yet on " + st.Branch)
	default:
		b.WriteString("## " + st.Branch)
	}
	if st.Upstream != "" {
		fmt.Fprintf(&b, "...%s", st.Upstream)
	}
	if st.Ahead > 0 || st.Behind > 0 {
		fmt.Fprintf(&b, " [ahead %d, behind %d]", st.Ahead, st.Behind)
	}
	b.WriteByte('\n')
	for _, e := range st.Entries {
		letters := strings.ReplaceAll(string([]byte{e.Index, e.WorkTree}), ".", " ")
		fmt.Fprintf(&b, "%s %s\n", letters, line(e.Path))
	}
	return b.String()
}

// diffStat says of each tracked file that has changed since the last commit by how much.
func (t *Tree) diffStat(ctx context.Context, st git.Status, prefix string) string {
	var paths []string
	for _, e := range st.Entries {
		if e.Index != '?' && len(paths) < maxCounted {
			paths = append(paths, e.Path)
		}
	}
	if len(paths) == 0 || st.Head == "" {
		return ""
	}
	changes, err := t.o.Git.ChangedFiles(ctx, t.root, git.DiffSpec{From: st.Head, Paths: paths})
	if err != nil {
		return ""
	}
	var b strings.Builder
	added, deleted := 0, 0
	for _, c := range changes {
		added, deleted = added+c.Added, deleted+c.Deleted
		size := fmt.Sprintf("+%d -%d", c.Added, c.Deleted)
		if c.Binary {
			size = "binary"
		}
		fmt.Fprintf(&b, "%s | %s\n", line(strings.TrimPrefix(c.Path, prefix+"/")), size)
	}
	fmt.Fprintf(&b, "%d files changed, %d insertions(+), %d deletions(-)\n", len(changes), added, deleted)
	return b.String()
}

// active returns the files that have changed, the latest first.
func (t *Tree) active(st git.Status) []item {
	type changed struct {
		path string
		at   time.Time
	}
	var all []changed
	for _, e := range st.Entries[:min(len(st.Entries), maxLooked)] {
		if info, err := os.Lstat(filepath.Join(t.root, filepath.FromSlash(e.Path))); err == nil && info.Mode().IsRegular() {
			all = append(all, changed{e.Path, info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b changed) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.path, b.path)) })
	var out []item
	for _, c := range all {
		if it, ok := t.fileItem(c.path); ok && len(out) < maxActive {
			out = append(out, it)
		}
	}
	return out
}

// line makes a path one line.
func line(path string) string { return strings.Map(visible, path) }

func visible(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// bounded cuts a text to a number of characters, and says so.
func bounded(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most]) + "\n… (truncated)\n"
}
