package git

import (
	"context"
	"strings"
)

// Tracked returns the files in dir that the index holds, by path from dir.
func (g *Git) Tracked(ctx context.Context, dir string) ([]string, error) {
	out, err := g.run(ctx, in(dir, "ls-files", "-z"))
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"), nil
}
