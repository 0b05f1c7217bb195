// Package worktree lets a caller look at one folder, and at nothing outside of it.
//
// A [Tree] is the folder of a project. Each of its questions takes a path as a caller
// gives it and answers from below the root or not at all. The path is judged twice: by
// its letters, so that what leads out says so whether or not it exists, and by
// [os.Root] when it is opened, so that a link that leads out, or one that is put there
// between the look and the opening, gives nothing. Only regular files are opened, for a
// pipe would hold the caller and a device do something. Files that look as if they held
// secrets are refused by name.
//
// What git ignores is not listed. The rules are git's: nested files, the repository's
// own list, the person's, with later lines over earlier ones and folders over what is in
// them; a test compares them with git's own answers.
//
// [Tree.Context] gathers what somebody who comes to the project should see first. What
// it costs grows with the project, so it is kept as long as nothing has changed: the
// system tells of changes where it can ([watch]), and else the times of all files do. It
// is never kept for a while.
package worktree

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/targets"
	"github.com/gantry-run/gantry/targets/jobs"
)

// Options are what a tree needs to know of its surroundings.
type Options struct {
	Env          []string // of the server, NAME=value: where the person's git rules are
	Git          *git.Git
	Jobs         *jobs.Service // of the same root; nil: no tasks
	AllowSecrets bool          // read files that look as if they held secrets
	DockerSocket string        // of the docker daemon; "": none
}

// Tree is the folder of a project. It may be used by several goroutines at once.
type Tree struct {
	root  string // absolute, links followed
	given string // absolute, as it was given
	o     Options
	rules *rules

	mu   sync.Mutex // of a look at all of the tree
	kept *survey    // the last look; nil: none

	watcher func(root string) *watch
}

// Open returns the tree in a folder. The error is CONFIG_INVALID when there is none.
func Open(root string, o Options) (*Tree, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the root is not a folder").Because(err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the root is not a folder").Because(err)
	}
	return &Tree{root: real, given: given, o: o, rules: newRules(real, o.Env, o.Git), watcher: newWatch}, nil
}

// Close lets go of what tells of changes.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget()
}

// Root returns the folder: absolute, with links followed.
func (t *Tree) Root() string { return t.root }

// open opens the root. It is opened anew for each question: the folder may have been
// replaced by another of its name.
func (t *Tree) open() (*os.Root, error) {
	r, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, fault.New(fault.NotFound, "the project's folder is gone").Because(err)
	}
	return r, nil
}

// Tasks returns the recipes of the project's justfile, with whether a caller may start
// them.
func (t *Tree) Tasks(ctx context.Context) ([]targets.Target, error) {
	if t.o.Jobs == nil {
		return nil, nil
	}
	l, err := t.o.Jobs.List(ctx, "")
	if err != nil {
		return nil, err
	}
	return l.Only(justRunner), nil
}

// justRunner is the short name of the runner whose targets are started here.
const justRunner = "just"
