package changes

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
)

// maxText bounds the files whose lines are counted and shown.
const maxText = 16 << 20

// List returns what changed in the worktrees. It is blocked, and has the summary only, when
// the guard says so and force does not, and when git cannot compare.
func (r *Reader) List(ctx context.Context, trees []Worktree, force bool) (List, error) {
	var out List
	for _, t := range trees {
		files, _, err := r.changed(ctx, t)
		if err := ctx.Err(); err != nil {
			return List{}, err
		}
		if err != nil {
			return List{Blocked: true, Reason: SummaryFailed}, nil
		}
		out.Files = append(out.Files, files...)
	}
	slices.SortFunc(out.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	out.Summary = summarize(out.Files)
	if !force && r.guard.exceeded(out.Summary) {
		out.Files, out.Blocked, out.Reason = nil, true, ThresholdExceeded
	}
	return out, nil
}

func summarize(files []FileChange) (s Summary) {
	for _, f := range files {
		s.FileCount++
		s.Added += f.Added
		s.Deleted += f.Deleted
		s.TotalBytes += f.Bytes
	}
	return s
}

// changed returns the changes of a worktree, and how git is asked for them.
func (r *Reader) changed(ctx context.Context, t Worktree) ([]FileChange, git.DiffSpec, error) {
	base, err := r.base(ctx, t)
	if err != nil {
		return nil, git.DiffSpec{}, err
	}
	spec := git.DiffSpec{From: base, Untracked: true, Renames: true, MaxText: maxText, Prefix: t.Name + "/"}
	changes, err := r.git.ChangedFiles(ctx, t.Dir, spec)
	if err != nil {
		return nil, spec, err
	}
	sizes, err := r.sizes(ctx, t, changes)
	if err != nil {
		return nil, spec, err
	}
	files := make([]FileChange, len(changes))
	for i, c := range changes {
		files[i] = FileChange{
			Path: shown(t.Name, c.Path), Status: statusOf(c.Status), OldMode: c.OldMode, NewMode: c.NewMode,
			Added: c.Added, Deleted: c.Deleted, Binary: c.Binary, Bytes: sizes[i], path: c.Path, from: c.From,
		}
		if c.From != "" {
			files[i].OldPath = shown(t.Name, c.From)
		}
	}
	return files, spec, nil
}

// base returns the commit to compare a worktree with. A worktree that git takes for another
// folder, as a configuration can make it, is refused: its files would be read.
func (r *Reader) base(ctx context.Context, t Worktree) (string, error) {
	top, err := r.git.Top(ctx, t.Dir)
	if err == nil && top != t.Dir {
		err = fault.New(fault.InvalidInput, "the repository says that its files are elsewhere")
	}
	if err != nil {
		return "", err
	}
	if target, err := r.git.ResolveBranch(ctx, t.Dir, t.Target); err == nil {
		if base, err := r.git.MergeBase(ctx, t.Dir, "HEAD", target); err == nil {
			return base, nil
		}
	}
	return t.Base, nil // the branch is gone, or has nothing in common any more
}

func shown(name, path string) string { return name + "/" + strings.ToValidUTF8(path, "\uFFFD") }

func statusOf(letter string) string {
	switch letter {
	case "A":
		return "added"
	case "D":
		return "deleted"
	case "R":
		return "renamed"
	case "T":
		return "typechange"
	case "U":
		return "unmerged"
	}
	return "modified"
}

// sizes returns the bytes of the changed files: as they stand in the worktree, or as they
// were when they are not there any more. Folders, which submodules are, have none.
func (r *Reader) sizes(ctx context.Context, t Worktree, changes []git.Change) ([]int64, error) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sizes := make([]int64, len(changes))
	var shas []string
	var whose []int
	for i, c := range changes {
		if info, err := root.Lstat(c.Path); err == nil {
			if !info.IsDir() {
				sizes[i] = info.Size()
			}
		} else if c.OldSHA != "" && c.OldMode != "160000" {
			shas, whose = append(shas, c.OldSHA), append(whose, i)
		}
	}
	was, err := r.git.Sizes(ctx, t.Dir, shas)
	for n, i := range whose {
		if err == nil {
			sizes[i] = was[n]
		}
	}
	return sizes, err
}
