package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// DiffSpec says what to compare.
type DiffSpec struct {
	From      string   // a revision
	To        string   // a revision; the work tree when empty
	Untracked bool     // with the work tree: also files in dir that are neither tracked nor ignored
	Paths     []string // only these, from dir; all when empty
}

// diffOptions make a diff depend on the two sides only.
var diffOptions = []string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--full-index", "--binary",
	"--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic",
	"--submodule=short", "--ignore-submodules=none", "-O/dev/null",
}

// Diff returns the differences as a patch that git apply takes, binary files included.
// The patch is empty when nothing differs.
func (g *Git) Diff(ctx context.Context, dir string, d DiffSpec) ([]byte, error) {
	out, err := g.diff(ctx, dir, d, "--patch")
	return []byte(out), err
}

// Change is a file that differs.
type Change struct {
	Path    string // from the top of the repository, with slashes; may hold any byte but NUL
	Status  string // A added, M modified, D deleted, T type changed, U unmerged
	Added   int    // lines
	Deleted int
	Binary  bool // no lines are counted
}

// ChangedFiles returns the files that differ, in git's order, which is by path.
// A renamed file is one deleted and one added.
func (g *Git) ChangedFiles(ctx context.Context, dir string, d DiffSpec) ([]Change, error) {
	out, err := g.diff(ctx, dir, d, "--raw", "--numstat", "-z")
	if err != nil {
		return nil, err
	}
	return parseChanges(out)
}

// parseChanges reads ":<modes> <names> <status> NUL path NUL" for each file and then
// "<added> TAB <deleted> TAB path NUL" for each.
func parseChanges(out string) ([]Change, error) {
	var changes []Change
	at := map[string]int{}
	tokens := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(tokens) && tokens[i] != ""; i++ {
		if tokens[i][0] == ':' {
			fields := strings.Fields(tokens[i])
			if i++; i == len(tokens) || len(fields) != 5 {
				return nil, fmt.Errorf("git diff printed %q", tokens[i-1])
			}
			if _, twice := at[tokens[i]]; !twice { // an unmerged file comes twice
				at[tokens[i]] = len(changes)
				changes = append(changes, Change{Path: tokens[i], Status: fields[4][:1]})
			}
			continue
		}
		fields := strings.SplitN(tokens[i], "\t", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("git diff printed %q", tokens[i])
		}
		n, known := at[fields[2]]
		if !known {
			return nil, fmt.Errorf("git diff counted a file that it did not list")
		}
		changes[n].Binary = fields[0] == "-"
		changes[n].Added, _ = strconv.Atoi(fields[0])
		changes[n].Deleted, _ = strconv.Atoi(fields[1])
	}
	return changes, nil
}

// diff runs git diff with the format options.
func (g *Git) diff(ctx context.Context, dir string, d DiffSpec, format ...string) (string, error) {
	sides := []string{d.From}
	if d.To != "" {
		sides = append(sides, d.To)
	}
	if err := checkRevision(sides...); err != nil {
		return "", err
	}
	var env []string
	if d.Untracked && d.To == "" {
		index, remove, err := g.indexWithUntracked(ctx, dir, d.Paths)
		if err != nil {
			return "", err
		}
		defer remove()
		env = append(env, index)
	}
	args := append([]string{"diff"}, diffOptions...)
	args = append(append(args, format...), "--end-of-options")
	args = append(append(append(args, sides...), "--"), d.Paths...)
	return g.runTree(ctx, call{dir: dir, args: args, env: env})
}

// copyPrefix starts the name of a folder for a copy of the index.
const copyPrefix = "gantry-index-"

// indexWithUntracked makes a copy of the index that also knows the untracked files,
// so that the person's index stays as it is. It returns the variable that makes git
// use the copy.
func (g *Git) indexWithUntracked(ctx context.Context, dir string, paths []string) (variable string, remove func(), err error) {
	out, err := g.run(ctx, in(dir, "rev-parse", "--path-format=absolute", "--git-path", "index"))
	if err != nil {
		return "", nil, err
	}
	own := strings.TrimSuffix(out, "\n")
	tmp, err := os.MkdirTemp(filepath.Dir(own), copyPrefix) // where Unlock finds it
	if err != nil {
		tmp, err = os.MkdirTemp("", copyPrefix) // a repository that is only read
	}
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(tmp) }
	index, err := os.ReadFile(own)
	if err == nil {
		err = os.WriteFile(filepath.Join(tmp, "index"), index, 0o600)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err == nil {
		if len(paths) == 0 {
			paths = []string{"."}
		}
		variable = "GIT_INDEX_FILE=" + filepath.Join(tmp, "index")
		c := in(dir, append([]string{"add", "--intent-to-add", "--"}, paths...)...)
		c.env = []string{variable}
		_, err = g.runTree(ctx, c)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return variable, remove, nil
}
