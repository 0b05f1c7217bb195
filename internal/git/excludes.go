package git

import (
	"context"
	"errors"
	"strings"
)

// ExcludesFile returns the path of the person's own ignore rules as any configuration
// that holds in dir says (core.excludesFile), empty when none does.
func (g *Git) ExcludesFile(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, in(dir, "config", "--null", "--type=path", "--get", "core.excludesFile"))
	var f *failure
	if errors.As(err, &f) && f.exit == 1 { // it is not set
		return "", nil
	}
	return strings.TrimSuffix(out, "\x00"), err
}
