package git

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Change is a file that differs.
type Change struct {
	Path    string // from the top of the repository, with slashes; may hold any byte but NUL
	Status  string // A added, M modified, D deleted, R renamed, T type changed, U unmerged
	Added   int    // lines
	Deleted int
	Binary  bool   // no lines are counted
	From    string // the path before, of a renamed file
	OldMode string // such as 100755, see [File]; empty for an added file
	NewMode string // empty for a deleted file
	OldSHA  string // of the content before; empty for an added file
}

// ChangedFiles returns the files that differ, by path. Without Renames a renamed file is
// one deleted and one added. A repository in the work tree that is neither tracked nor
// ignored is one added file of mode 160000, whatever is in it.
func (g *Git) ChangedFiles(ctx context.Context, dir string, d DiffSpec) ([]Change, error) {
	out, err := g.diff(ctx, dir, d, 0, "--raw", "--numstat", "--no-abbrev", "-z")
	if err != nil {
		return nil, err
	}
	changes, err := parseChanges(out)
	if err != nil || !d.Untracked || d.To != "" {
		return changes, err
	}
	nested, err := g.nested(ctx, dir, d.Paths)
	if err != nil || len(nested) == 0 {
		return changes, err
	}
	changes = append(changes, nested...)
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// nested returns the untracked repositories in a work tree.
func (g *Git) nested(ctx context.Context, dir string, paths []string) (out []Change, err error) {
	files, err := g.untracked(ctx, dir, paths)
	if files = slices.DeleteFunc(files, func(f string) bool { return !isFolder(f) }); err != nil || len(files) == 0 {
		return nil, err
	}
	prefix, err := g.run(ctx, in(dir, "rev-parse", "--show-prefix"))
	for _, f := range files {
		out = append(out, Change{Path: path.Join(strings.TrimSuffix(prefix, "\n"), f), Status: "A", NewMode: "160000"})
	}
	return out, err
}

// parseChanges reads what git diff --raw --numstat -z prints: for each file
// ":<modes> <names> <status>" and its path, then "<added> TAB <deleted> TAB <path>", each
// ended by NUL. A renamed file has two paths, which stand alone after its counts.
func parseChanges(out string) ([]Change, error) {
	var changes []Change
	at := map[string]int{}
	tokens := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for len(tokens) > 0 && tokens[0] != "" {
		var rest []string
		var err error
		if tokens[0][0] == ':' {
			var c Change
			if c, rest, err = parseRaw(tokens); err != nil {
				return nil, err
			}
			if _, twice := at[c.Path]; !twice { // an unmerged file comes twice
				at[c.Path] = len(changes)
				changes = append(changes, c)
			}
		} else if rest, err = parseCount(tokens, changes, at); err != nil {
			return nil, err
		}
		tokens = rest
	}
	return changes, nil
}

func parseRaw(tokens []string) (c Change, rest []string, err error) {
	fields := strings.Fields(tokens[0][1:])
	if len(fields) != 5 || len(tokens) < 2 {
		return c, nil, fmt.Errorf("git diff printed %q", tokens[0])
	}
	c = Change{Path: tokens[1], Status: fields[4][:1], OldMode: fields[0], NewMode: fields[1], OldSHA: fields[2]}
	if strings.Trim(c.OldMode, "0") == "" {
		c.OldMode, c.OldSHA = "", ""
	}
	if strings.Trim(c.NewMode, "0") == "" {
		c.NewMode = ""
	}
	if rest = tokens[2:]; c.Status == "R" && len(rest) > 0 {
		c.From, c.Path, rest = c.Path, rest[0], rest[1:]
	}
	return c, rest, nil
}

func parseCount(tokens []string, changes []Change, at map[string]int) (rest []string, err error) {
	fields := strings.SplitN(tokens[0], "\t", 3)
	rest = tokens[1:]
	if len(fields) == 3 && fields[2] == "" && len(rest) > 1 {
		fields[2], rest = rest[1], rest[2:]
	}
	if len(fields) != 3 {
		return nil, fmt.Errorf("git diff printed %q", tokens[0])
	}
	n, known := at[fields[2]]
	if !known {
		return nil, fmt.Errorf("git diff counted a file that it did not list")
	}
	changes[n].Binary = fields[0] == "-"
	changes[n].Added, _ = strconv.Atoi(fields[0])
	changes[n].Deleted, _ = strconv.Atoi(fields[1])
	return rest, nil
}
