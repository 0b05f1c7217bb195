package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// racy is how young a file may be and still be changed without its time telling: clocks
// of file systems are coarse. A survey of such files is not kept without a watch.
const racy = 2 * time.Second

// survey is what a look at all of the tree found.
type survey struct {
	branch  string // "" outside of a repository, and when detached
	git     string // the state as text; "" outside of a repository
	files   []item // contents of the files that git says have changed
	outline string

	watch  *watch                 // nil: the sum tells of changes
	sure   bool                   // git was asked when the watch was complete
	sum    uint64                 // of the times of all files
	stamps map[string]fs.FileInfo // of files beside the tree that it depends on
}

// look returns the survey of the tree as it is now: the kept one while nothing has
// changed.
func (t *Tree) look(ctx context.Context) (*survey, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept != nil && t.kept.watch.quiet() && unchanged(t.kept.stamps, t.beside(ctx)) {
		t.confirm(ctx)
		return t.kept, nil
	}
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	w := t.watcher(t.root)
	s, keep, err := t.survey(ctx, root, w)
	if w != nil && w.full { // from now on the times of files tell
		t.watcher, keep = func(string) *watch { return nil }, false
	}
	if err != nil || !keep {
		w.close()
		w = nil
	}
	if err != nil {
		return nil, err
	}
	if s != t.kept {
		t.forget()
	}
	if keep {
		t.kept = s
	}
	return s, nil
}

// confirm asks git again, once, if it was asked while the watch was being made: what
// changed in between was perhaps seen by neither.
func (t *Tree) confirm(ctx context.Context) {
	if t.kept.sure {
		return
	}
	again := *t.kept
	if top, _, ok := repository(t.root); ok && again.git != "" {
		again.describe(ctx, t, top)
	}
	again.sure = ctx.Err() == nil
	t.kept = &again
}

// forget lets go of the kept survey.
func (t *Tree) forget() {
	if t.kept != nil {
		t.kept.watch.close()
	}
	t.kept = nil
}

// survey looks at everything, and reports whether a change of it would show.
func (t *Tree) survey(ctx context.Context, root *os.Root, w *watch) (*survey, bool, error) {
	began := time.Now()
	stamps := t.beside(ctx)
	top, common, inGit := repository(t.root)
	inGit = inGit && t.o.Git != nil
	s := &survey{watch: w, stamps: stamps}
	var tracked []string
	var failed error
	var asked sync.WaitGroup
	if inGit {
		asked.Go(func() {
			if tracked, failed = t.o.Git.Tracked(ctx, t.root); failed == nil && w != nil {
				s.describe(ctx, t, top) // beside the walk; confirm asks again
			}
		})
	}
	found, err := t.walk(ctx, root, t.rules.at(ctx), w)
	asked.Wait()
	if err != nil {
		return nil, false, err
	}
	inGit = inGit && failed == nil // else git refuses to look: it is somebody else's, or broken
	found.tracked(tracked)
	if inGit {
		found.partial = !watchGit(w, top, common) || found.partial
	}
	s.outline, s.sum = found.outline(".", 0), found.sum.Sum64()
	if w == nil && t.kept != nil && t.kept.watch == nil && t.kept.sum == s.sum && unchanged(t.kept.stamps, stamps) {
		return t.kept, true, nil
	}
	if inGit && w == nil {
		s.describe(ctx, t, top)
	}
	s.sure = w == nil || !inGit
	settled := w != nil && !found.partial || w == nil && found.newest.Before(began.Add(-racy))
	return s, settled, nil
}

// watchGit watches where git keeps what its state depends on, and reports whether that
// could be done; without a watch the stamps do that.
func watchGit(w *watch, top, common string) bool {
	if w == nil {
		return true
	}
	ok := w.add(ownGitDir(top)) && w.add(common)
	_ = filepath.WalkDir(filepath.Join(common, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			ok = w.add(path) && ok
		}
		return nil
	})
	return ok
}

// beside returns how the files outside of the tree are that a survey depends on.
func (t *Tree) beside(ctx context.Context) map[string]fs.FileInfo {
	out := map[string]fs.FileInfo{}
	for _, file := range t.rules.outside(ctx) {
		out[file], _ = os.Stat(file)
	}
	top, common, ok := repository(t.root)
	if !ok {
		return out
	}
	own := ownGitDir(top)
	for _, file := range []string{
		filepath.Join(own, "index"), filepath.Join(own, "HEAD"), filepath.Join(own, "logs", "HEAD"),
		filepath.Join(common, "packed-refs"), filepath.Join(common, "FETCH_HEAD"), filepath.Join(common, "config"),
	} {
		out[file], _ = os.Stat(file)
	}
	return out
}
