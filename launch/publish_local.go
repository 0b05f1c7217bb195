package launch

import (
	"context"
	"fmt"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
)

// remoteName is what git calls the remote that a clone came from.
const remoteName = "origin"

// publishLocal leaves the branch in the site's work tree and, when that has a
// remote that accepts it, pushes it there. The pull request is pr.json.
func publishLocal(ctx context.Context, j *job, pr *dossier.PR) error {
	pr.URL = fmt.Sprintf("resource://run/%s/%s", pr.RunID, dossier.PRName)
	remote, err := j.git.RemoteURL(ctx, j.site(), remoteName)
	if err != nil {
		return err
	}
	if remote == "" {
		pr.PushNote = "the site has no remote"
		pr.RollbackSteps = []string{fmt.Sprintf("git checkout --detach %s", pr.BaseRef), fmt.Sprintf("git branch -D %s", pr.Branch)}
		return nil
	}
	err = j.git.Push(ctx, j.site(), remoteName, pr.Branch, git.PushOptions{})
	f := fault.From(err)
	switch {
	case err == nil:
		pr.Pushed = true
	case f.Code == fault.PublishAuth, f.Code == fault.PublishFailed && !f.Retryable:
		pr.PushNote = f.Message
	default:
		return err
	}
	if pr.Pushed {
		pr.RollbackSteps = append(pr.RollbackSteps, fmt.Sprintf("git push %s --delete %s", remoteName, pr.Branch))
	}
	pr.RollbackSteps = append(pr.RollbackSteps, fmt.Sprintf("git branch -D %s", pr.Branch),
		fmt.Sprintf("if it was merged: git revert %s", last(pr.CommitSHAs)))
	return nil
}
