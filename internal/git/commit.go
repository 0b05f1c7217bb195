package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// ErrNothingToCommit is returned when the index equals the last commit.
var ErrNothingToCommit = errors.New("git: nothing to commit")

// CommitOptions is all that goes into a commit besides its files and its parent:
// the same of each gives the same object name.
type CommitOptions struct {
	Message     string // taken as it is, with a final newline added if it lacks one
	AuthorName  string // author and committer
	AuthorEmail string
	When        time.Time // to the second, written in UTC
	Paths       []string  // what to commit, from dir; everything in the index when empty
}

// Add takes the state of paths, from dir, into the index: new, changed and removed
// files. Without paths it takes everything in dir. Ignored files are left out, by the
// repository's own rules and the person's.
func (g *Git) Add(ctx context.Context, dir string, paths ...string) error {
	args := append([]string{"add", "--all", "--"}, paths...)
	if len(paths) == 0 {
		args = append(args, ".")
	}
	_, err := g.runTree(ctx, in(dir, args...))
	return err
}

// Commit adds the paths, if any, and commits the index. It fails with
// [ErrNothingToCommit] when that changes nothing.
func (g *Git) Commit(ctx context.Context, dir string, o CommitOptions) (Commit, error) {
	if o.Message == "" || o.AuthorName == "" || o.When.IsZero() {
		return Commit{}, fault.New(fault.InvalidInput, "a commit needs a message, an author and a date")
	}
	if len(o.Paths) > 0 {
		if err := g.Add(ctx, dir, o.Paths...); err != nil {
			return Commit{}, err
		}
	}
	_, err := g.run(ctx, in(dir, "diff", "--cached", "--quiet", "--no-ext-diff", ignoreDirt))
	if f := (*failure)(nil); !errors.As(err, &f) || f.exit != 1 { // 1 says that it differs
		return Commit{}, cmp.Or(err, ErrNothingToCommit)
	}
	date := fmt.Sprintf("@%d +0000", o.When.Unix())
	c := in(dir, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--cleanup=verbatim", "--file=-")
	c.stdin = withNewline(o.Message)
	c.env = []string{
		"GIT_AUTHOR_NAME=" + o.AuthorName, "GIT_AUTHOR_EMAIL=" + o.AuthorEmail, "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=" + o.AuthorName, "GIT_COMMITTER_EMAIL=" + o.AuthorEmail, "GIT_COMMITTER_DATE=" + date,
	}
	if _, err := g.runTree(ctx, c); err != nil {
		return Commit{}, err
	}
	return g.Head(ctx, dir)
}

// CommitAll turns a plain folder into a repository with one commit of all its files,
// or commits all changes of a repository. What a .gitignore of the folder excludes is
// left out; the person's own rules do not count.
func (g *Git) CommitAll(ctx context.Context, dir string, o CommitOptions) (Commit, error) {
	isRepo, err := g.IsRepo(ctx, dir)
	if err == nil && !isRepo {
		err = g.Init(ctx, dir)
	}
	if err != nil {
		return Commit{}, err
	}
	plain := []string{"-c", "core.excludesFile=/dev/null", "-c", "core.attributesFile=/dev/null", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"}
	if _, err := g.runTree(ctx, in(dir, append(plain, "add", "--all", "--", ".")...)); err != nil {
		return Commit{}, err
	}
	o.Paths = nil
	return g.Commit(ctx, dir, o)
}

func withNewline(s string) string {
	if s[len(s)-1] != '\n' {
		return s + "\n"
	}
	return s
}
