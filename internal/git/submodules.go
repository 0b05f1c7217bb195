package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Submodules returns the submodules in dir that are filled, by path from dir: those that
// git finds a repository in. It does not look into them.
func (g *Git) Submodules(ctx context.Context, dir string) ([]string, error) {
	out, err := g.run(ctx, in(dir, "ls-files", "--stage", "-z"))
	if err != nil {
		return nil, err
	}
	var filled []string
	for entry := range strings.SplitSeq(out, "\x00") {
		mode, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(mode, "160000 ") || slices.Contains(filled, path) { // an unmerged one comes thrice
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, path, ".git")); err == nil {
			filled = append(filled, path)
		}
	}
	return filled, nil
}
