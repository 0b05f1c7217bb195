package board

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func TestAnAttemptHasAWorktreeInEachRepositoryAndASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	task := must(w.b.CreateTask(t.Context(), Ask{}, NewTask{ProjectID: p.ID, Title: "Make it faster: the *whole* thing, 2 times", Description: "All\nof it."}))(t)
	a := must(w.b.StartAttempt(t.Context(), Ask{}, NewAttempt{TaskID: task.ID, Executor: "script", Variant: "fast", Repos: targets}))(t)
	if want := "gantry/" + a.ID[len(a.ID)-8:] + "-make-it-faster-the-whole-thing-2-times"; a.Branch != want {
		t.Errorf("branch %s, want %s", a.Branch, want)
	}
	if a.Executor != "SCRIPT" || a.Variant != "FAST" || a.State != Running || a.SessionID == "" || a.TurnID != "turn-1" || a.LastActivityAt == nil {
		t.Errorf("%+v", a)
	}
	s := must(w.fake.Get("", runs.ID(a.SessionID)))(t)
	if s.Dir != a.Dir || s.Dir != filepath.Join(w.b.o.Dir, "attempts", a.ID) || s.LastResult != task.Title+"\n\nAll\nof it." || s.Labels["attempt_id"] != a.ID {
		t.Errorf("%+v", s)
	}
	if len(a.Repos) != 2 || a.Repos[0].Name != "api" || a.Repos[1].Name != "web" {
		t.Fatalf("%+v", a.Repos)
	}
	for _, r := range a.Repos {
		if got := w.sh(r.Worktree, "git branch --show-current; cat a; git rev-parse HEAD"); got != a.Branch+"\none\n"+r.BaseCommit {
			t.Errorf("%s: %s", r.Name, got)
		}
	}
	if got := must(w.b.Attempt(t.Context(), a.ID))(t); got.State != Running || len(got.Repos) != 2 || got.Repos[1] != a.Repos[1] {
		t.Errorf("%+v", got)
	}
	if w.status(task) != InProgress {
		t.Errorf("the task is %s", w.status(task))
	}
	if left, _ := os.ReadDir(filepath.Join(w.b.o.Dir, "leases")); len(left) > 0 {
		t.Errorf("leases are left: %v", left)
	}
	one := w.start(task, targets[:1])
	if one.Dir != one.Repos[0].Worktree || !strings.HasSuffix(one.Dir, "/api") || one.Branch == a.Branch {
		t.Errorf("with one repository: %+v", one)
	}
}

func TestATargetBranchMayBeOneOfOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	sha := w.sh(w.dir+"/api", "git commit -q --allow-empty -m two; git update-ref refs/remotes/origin/next HEAD; git reset -q --hard HEAD~1; git rev-parse refs/remotes/origin/next")
	targets[0].TargetBranch = "next"
	if a := w.start(w.task(p, "x"), targets); a.Repos[0].BaseCommit != sha || a.Repos[0].TargetBranch != "next" {
		t.Errorf("%+v", a.Repos)
	}
}

func TestAFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	task := w.task(p, "x")
	reset := func() { w.fake.fail, w.fake.before = nil, nil }
	with := func(change func(*NewAttempt)) NewAttempt {
		n := NewAttempt{TaskID: task.ID, Executor: "SCRIPT", Repos: slices.Clone(targets)}
		if change != nil {
			change(&n)
		}
		return n
	}
	unlucky := errors.New("no agent today")
	for _, c := range []struct {
		what string
		code fault.Code
		req  NewAttempt
		make func()
	}{
		{"no such task", fault.TaskNotFound, with(func(n *NewAttempt) { n.TaskID = p.ID }), nil},
		{"no repository", fault.InvalidInput, with(func(n *NewAttempt) { n.Repos = nil }), nil},
		{"a repository twice", fault.InvalidInput, with(func(n *NewAttempt) { n.Repos[1] = n.Repos[0] }), nil},
		{"an unknown repository", fault.RepoNotFound, with(func(n *NewAttempt) { n.Repos[1].RepoID = p.ID }), nil},
		{"an unknown branch", fault.RefNotFound, with(func(n *NewAttempt) { n.Repos[1].TargetBranch = "none" }), nil},
		{"a branch that is an option", fault.InvalidInput, with(func(n *NewAttempt) { n.Repos[1].TargetBranch = "--format=evil" }), nil},
		{"a branch that is a range", fault.InvalidInput, with(func(n *NewAttempt) { n.Repos[1].TargetBranch = "main..main" }), nil},
		{"an unknown executor", fault.ExecutorUnavailable, with(func(n *NewAttempt) { n.Executor = "NONE" }), nil},
		{"an unknown variant", fault.ExecutorUnavailable, with(func(n *NewAttempt) { n.Variant = "DEFAULT" }), nil},
		{"a prompt with NUL", fault.InvalidInput, with(func(n *NewAttempt) { n.Prompt = "a\x00b" }), nil},
		{"a session that does not start", fault.Internal, with(nil), func() { w.fake.fail = fault.New(fault.Internal, "x").Because(unlucky) }},
		{"a second repository that cannot be written", fault.ProcessFailed, with(nil), func() {
			w.sh(w.dir+"/web", "rm -rf .git/worktrees; echo x >.git/worktrees")
		}},
	} {
		if c.make != nil {
			c.make()
		}
		_, err := w.b.StartAttempt(t.Context(), Ask{Once: &runs.Once{Key: "k", Hash: "h"}, Tool: "start"}, c.req)
		wants(t, c.what, err, c.code)
		if c.code == fault.ProcessFailed {
			w.sh(w.dir+"/web", "rm -f .git/worktrees")
			if err := w.b.Reconcile(t.Context()); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		reset()
		w.nothingLeft("api", "web")
		if got := w.status(task); got != Todo {
			t.Errorf("%s: the task is %s", c.what, got)
		}
	}
	if a := w.start(task, targets); a.State != Running {
		t.Errorf("%+v", a)
	}
}

func TestACallerThatGivesUpLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	ctx, cancel := context.WithCancel(t.Context())
	w.fake.fail = context.Canceled
	w.fake.before = cancel
	if _, err := w.b.StartAttempt(ctx, Ask{}, NewAttempt{TaskID: w.task(p, "x").ID, Executor: "SCRIPT", Repos: targets}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	w.nothingLeft("api")
}

func TestAStartWhoseSessionIsThereHasSucceeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	ctx, cancel := context.WithCancel(t.Context())
	w.fake.after = cancel
	a, err := w.b.StartAttempt(ctx, Ask{}, NewAttempt{TaskID: w.task(p, "x").ID, Executor: "SCRIPT", Repos: targets})
	if err != nil || a.State != Running {
		t.Errorf("%+v %v", a, err)
	}
}

func TestHostileTitlesMakeHarmlessBranches(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"../../etc/passwd":           "etc-passwd",
		"--format=evil; rm -rf /":    "format-evil-rm-rf",
		"x.lock":                     "x-lock",
		"@{-1}~^:?*[\\":              "1",
		"日本語":                        "task",
		"Ünïcode É":                  "n-code",
		strings.Repeat("word ", 200): "word-word-word-word-word-word-word-word",
		strings.Repeat("w", 200):     strings.Repeat("w", 40),
		"$(touch /tmp/x) `id` 'a'":   "touch-tmp-x-id-a",
		"HEAD":                       "head",
	} {
		if got := slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	w := newWorld(t)
	p, targets := w.project("api")
	for _, title := range []string{"$(touch pwned); --upload-pack=id", "..\\..\\.git", "日本語"} {
		if a := w.start(w.task(p, title), targets); a.State != Running {
			t.Errorf("%q: %+v", title, a)
		}
	}
	if got := w.sh(w.dir, "find . -name pwned"); got != "" {
		t.Error(got)
	}
	for _, bad := range []string{"", "   ", "a\nb", "a\x1b[31mb", strings.Repeat("x", MaxTitle+1)} {
		_, err := w.b.CreateTask(t.Context(), Ask{}, NewTask{ProjectID: p.ID, Title: bad})
		wants(t, "title "+bad, err, fault.InvalidInput)
	}
}

func TestAKeyStartsOneAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	ask := Ask{Tool: "start_task_attempt", Once: &runs.Once{Key: "k", Hash: "h"}}
	req := NewAttempt{TaskID: task.ID, Executor: "SCRIPT", Repos: targets}
	var mu sync.Mutex
	ids := map[string]int{}
	// As two processes would.
	boards := []*Board{w.b, must(Open(t.Context(), options(t, w.dir, w.env, w.fake, w.clock.read, nil)))(t)}
	defer boards[1].Close()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			a, err := boards[i%2].StartAttempt(t.Context(), ask, req)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				ids[a.ID]++
			} else if f := fault.From(err); f.Code != fault.IdempotencyInProgress || !f.Retryable {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	first := must(w.b.StartAttempt(t.Context(), ask, req))(t)
	if ids[first.ID]++; len(ids) != 1 {
		t.Errorf("%v", ids)
	}
	if page := must(w.b.Attempts(t.Context(), task.ID, 0, ""))(t); page.Count != 1 {
		t.Errorf("%d attempts", page.Count)
	}
	w.fake.end(runs.ID(first.SessionID), sessions.TurnCompleted, 0)
	if again := must(w.b.StartAttempt(t.Context(), ask, req))(t); again.State != first.State || again.ID != first.ID || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("another result: %+v", again)
	}
	other := ask
	other.Once = &runs.Once{Key: "k", Hash: "other"}
	_, err := w.b.StartAttempt(t.Context(), other, req)
	wants(t, "another request", err, fault.IdempotencyConflict)
	w.clock.add(runs.KeyLife)
	if late := must(w.b.StartAttempt(t.Context(), other, req))(t); late.ID == first.ID {
		t.Error("the key was kept for more than its life")
	}
	other.Owner = "token"
	if theirs := must(w.b.StartAttempt(t.Context(), other, req))(t); theirs.ID == first.ID {
		t.Error("two callers share a key")
	}
}
