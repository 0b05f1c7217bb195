package git

import "context"

// Restore makes the index and the work tree what they are in the revision: changes
// are undone, and files that are not in it are removed, ignored ones included.
func (g *Git) Restore(ctx context.Context, dir, revision string) error {
	if err := checkRevision(revision); err != nil {
		return err
	}
	if _, err := g.runTree(ctx, in(dir, "reset", "--quiet", "--hard", "--end-of-options", revision)); err != nil {
		return err
	}
	_, err := g.runTree(ctx, in(dir, "clean", "--quiet", "--force", "--force", "-d", "-x"))
	return err
}
