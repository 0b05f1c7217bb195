package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Sizes returns the bytes of objects of the repository, in the order of their names; 0
// for one that is not there.
func (g *Git) Sizes(ctx context.Context, dir string, shas []string) ([]int64, error) {
	if len(shas) == 0 {
		return nil, nil
	}
	for _, sha := range shas {
		if !IsSHA(sha) {
			return nil, fault.New(fault.InvalidInput, "%.80q is not a complete object name", sha)
		}
	}
	c := in(dir, "cat-file", "--batch-check=%(objectsize)")
	c.stdin = strings.Join(shas, "\n") + "\n"
	out, err := g.run(ctx, c)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(shas) {
		return nil, fmt.Errorf("git cat-file answered %d times to %d names", len(lines), len(shas))
	}
	sizes := make([]int64, len(shas))
	for i, line := range lines {
		if size, err := strconv.ParseInt(line, 10, 64); err == nil { // else "<name> missing"
			sizes[i] = size
		}
	}
	return sizes, nil
}
