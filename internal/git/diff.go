package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// DiffSpec says what to compare.
type DiffSpec struct {
	From      string   // a revision
	To        string   // a revision; the work tree when empty
	Untracked bool     // with the work tree: also files in dir that are neither tracked nor ignored
	Paths     []string // only these, from dir; all when empty
	Renames   bool     // a file that was deleted and one like it that was added are one, renamed
	MaxText   int64    // larger files, in bytes, count as binary: nobody reads their lines; 512 MiB when 0
	Prefix    string   // before the paths of a patch, such as "name/"
}

// diffOptions make a diff depend on the two sides only.
var diffOptions = []string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--full-index",
	"--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic",
	"--submodule=short", ignoreDirt, "-O/dev/null",
}

// ignoreDirt keeps git from looking into the work trees of submodules, where it would run
// the filters that they configure. Which commit a submodule is at is still seen.
const ignoreDirt = "--ignore-submodules=dirty"

// Diff returns the differences as a patch that git apply takes, binary files included.
// The patch is empty when nothing differs.
func (g *Git) Diff(ctx context.Context, dir string, d DiffSpec) ([]byte, error) {
	out, err := g.diff(ctx, dir, d, 0, "--patch", "--binary")
	return []byte(out), err
}

// DiffText returns the first max bytes of the differences as a patch that only names
// binary files, and whether there is more.
func (g *Git) DiffText(ctx context.Context, dir string, d DiffSpec, max int) (patch []byte, more bool, err error) {
	out, err := g.diff(ctx, dir, d, max+1, "--patch")
	if len(out) > max {
		return []byte(out[:max]), true, err
	}
	return []byte(out), false, err
}

// diff runs git diff with the format options. With max it returns that many bytes at
// most, without it fails on too much output.
func (g *Git) diff(ctx context.Context, dir string, d DiffSpec, max int, format ...string) (string, error) {
	sides := []string{d.From}
	if d.To != "" {
		sides = append(sides, d.To)
	}
	if err := checkRevision(sides...); err != nil {
		return "", err
	}
	c := call{dir: dir, max: max}
	if d.Untracked && d.To == "" {
		index, remove, err := g.indexWithUntracked(ctx, dir, d.Paths)
		if err != nil {
			return "", err
		}
		defer remove()
		c.env = append(c.env, index)
	}
	if d.MaxText > 0 {
		c.args = append(c.args, "-c", "core.bigFileThreshold="+strconv.FormatInt(d.MaxText, 10))
	}
	c.args = append(append(append(c.args, "diff"), diffOptions...), renames(d.Renames)...)
	c.args = append(append(c.args, format...), "--src-prefix=a/"+d.Prefix, "--dst-prefix=b/"+d.Prefix, "--end-of-options")
	c.args = append(append(append(c.args, sides...), "--"), d.Paths...)
	return g.runTree(ctx, c)
}

// renames returns the options that find renamed files, up to so many that it stays quick.
func renames(find bool) []string {
	if find {
		return []string{"--find-renames=50%", "-l1000"}
	}
	return []string{"--no-renames"}
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
	if err = copyWithTime(filepath.Join(tmp, "index"), own); os.IsNotExist(err) {
		err = nil
	}
	variable = "GIT_INDEX_FILE=" + filepath.Join(tmp, "index")
	if err == nil {
		err = g.intendToAdd(ctx, dir, variable, paths)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return variable, remove, nil
}

// copyWithTime copies an index and its time: a file that was changed within the second in
// which the index was written counts as unchanged when the index seems to be younger.
func copyWithTime(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	index, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, index, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// intendToAdd tells the index about the untracked files, without their content.
func (g *Git) intendToAdd(ctx context.Context, dir, index string, paths []string) error {
	files, err := g.untracked(ctx, dir, paths)
	files = slices.DeleteFunc(files, isFolder)
	if err != nil || len(files) == 0 {
		return err
	}
	c := in(dir, "add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul")
	c.stdin, c.env = strings.Join(files, "\x00"), []string{index}
	_, err = g.runTree(ctx, c)
	return err
}

// untracked returns the files that are neither tracked nor ignored, from dir. A repository
// in the work tree is one, with a slash at its end.
func (g *Git) untracked(ctx context.Context, dir string, paths []string) ([]string, error) {
	out, err := g.run(ctx, in(dir, append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"}, paths...)...))
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}

func isFolder(path string) bool { return strings.HasSuffix(path, "/") }
