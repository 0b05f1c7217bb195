package git

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Worktree is a work tree of a repository.
type Worktree struct {
	Path   string // absolute
	Head   string // the commit, empty when there is none
	Branch string // empty when detached
	Gone   bool   // the folder does not exist any more
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
// changes or untracked files in it the call fails, unless forced. A work tree whose
// folder is gone is forgotten.
func (g *Git) RemoveWorktree(ctx context.Context, dir, path string, force bool) error {
	args := []string{"worktree", "remove"}
	if force {
		args = append(args, "--force", "--force") // twice: even if locked
	}
	_, err := g.runTree(ctx, in(dir, append(args, "--", path)...))
	return err
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
