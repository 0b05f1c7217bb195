package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Worktree is a work tree of a repository.
type Worktree struct {
	Path   string // absolute
	Head   string // the commit, empty when there is none
	Branch string // empty when detached
	Gone   bool   // the folder does not exist any more
	Bare   bool   // it is the repository itself, without files
}

// Worktrees returns the work trees of the repository that dir belongs to, the main
// one first, the others in git's order, which is by path.
func (g *Git) Worktrees(ctx context.Context, dir string) ([]Worktree, error) {
	out, err := g.run(ctx, in(dir, "worktree", "list", "--porcelain", "-z"))
	if err != nil {
		return nil, err
	}
	var trees []Worktree
	for line := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			trees = append(trees, Worktree{Path: value})
		}
		if len(trees) == 0 {
			continue
		}
		last := &trees[len(trees)-1]
		switch key {
		case "HEAD":
			last.Head = strings.Trim(value, "0")
			if last.Head != "" {
				last.Head = value
			}
		case "branch":
			last.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "prunable":
			last.Gone = true
		case "bare":
			last.Bare = true
		}
	}
	return trees, nil
}

// AddWorktree makes a work tree at path, which must not exist or be empty, with a new
// branch that starts at a revision, HEAD when empty. The branch must not exist.
func (g *Git) AddWorktree(ctx context.Context, dir, path, branch, start string) error {
	if start == "" {
		start = "HEAD"
	}
	if err := checkRevision(branch, start); err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		return fault.New(fault.InvalidInput, "the path of a work tree must be absolute")
	}
	_, err := g.runTree(ctx, in(dir, "worktree", "add", "--quiet", "--no-track", "-b", branch, "--", path, start))
	return err
}

// RemoveWorktree removes the work tree at path and its folder; the branch stays. With
// changes or untracked files in it, or submodules, the call fails, unless forced: then it
// removes whatever there is, also a work tree that was never finished or that git does not
// know. A work tree whose folder is gone is forgotten.
func (g *Git) RemoveWorktree(ctx context.Context, dir, path string, force bool) error {
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force", "--force") // twice: even if locked
	}
	_, err := g.runTree(ctx, in(dir, append(args, "--", path)...))
	if f := (*failure)(nil); force && errors.As(err, &f) {
		return g.forgetWorktree(ctx, dir, path)
	}
	return err
}

// forgetWorktree removes the folder of a work tree and what the repository keeps about it,
// when git will not: a work tree whose making was cut off is locked and has no files that
// git would recognise.
func (g *Git) forgetWorktree(ctx context.Context, dir, path string) error {
	out, err := g.run(ctx, in(dir, "rev-parse", "--path-format=absolute", "--git-common-dir"))
	if err != nil {
		return err
	}
	admin := filepath.Join(strings.TrimSuffix(out, "\n"), "worktrees")
	entries, err := os.ReadDir(admin)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	err = os.RemoveAll(path)
	for _, entry := range entries {
		own := filepath.Join(admin, entry.Name())
		if file, _ := os.ReadFile(filepath.Join(own, "gitdir")); strings.TrimSpace(string(file)) == filepath.Join(path, ".git") {
			err = errors.Join(err, os.RemoveAll(own))
		}
	}
	return err
}

// OnlyHere counts the commits of a revision that no branch, tag or branch of a remote has,
// the branch of the name except left out: what is lost when that branch goes. except may be
// empty.
func (g *Git) OnlyHere(ctx context.Context, dir, revision, except string) (int, error) {
	if err := checkRevision(revision); err != nil {
		return 0, err
	}
	args := []string{"rev-list", "--count", revision, "--not"}
	if except != "" {
		if err := CheckRef(except); err != nil {
			return 0, err
		}
		args = append(args, "--exclude="+except) // of the branches; CheckRef leaves no pattern in it
	}
	out, err := g.run(ctx, in(dir, append(args, "--branches", "--tags", "--remotes", "--")...))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// DeleteBranch deletes a branch, merged or not. It fails when the branch is checked
// out in a work tree.
func (g *Git) DeleteBranch(ctx context.Context, dir, branch string) error {
	if err := CheckRef(branch); err != nil {
		return err
	}
	_, err := g.run(ctx, in(dir, "branch", "--quiet", "--delete", "--force", "--", branch))
	return err
}
