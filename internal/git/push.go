package git

import (
	"context"
	"errors"

	"github.com/gantry-run/gantry/internal/fault"
)

// Push sends a branch to a remote, under the same name, never by force. A branch that
// is there already is a success.
//
// It fails with PR_MANAGER_PUBLISH_FAILED: retryable when the network is to blame,
// not when the remote refused (it has other commits on the branch, a hook or a rule
// says no, or the credentials do not do).
func (g *Git) Push(ctx context.Context, dir, remote, branch string) error {
	if err := checkRevision(remote, branch); err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	_, err := g.run(ctx, in(dir, "push", "--quiet", "--no-verify", "--recurse-submodules=no", "--no-follow-tags", "--", remote, ref+":"+ref))
	var f *failure
	switch {
	case !errors.As(err, &f):
		return err
	case f.network():
		return fault.Retry(fault.PublishFailed, "the remote %s could not be reached: %s", remote, f.reason()).Because(f)
	case f.says("non-fast-forward", "fetch first"):
		return fault.New(fault.PublishFailed, "the remote %s has other commits on the branch %s", remote, branch).Because(f)
	case f.says("! [remote rejected]", "hook declined"):
		return fault.New(fault.PublishFailed, "the remote %s refused the branch %s", remote, branch).Because(f)
	}
	return fault.New(fault.PublishFailed, "the branch %s could not be pushed to %s: %s", branch, remote, f.reason()).Because(f)
}
