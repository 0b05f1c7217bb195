package board

import (
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// ended starts an attempt whose agent ran the script in its folder and ended.
func (w *world) ended(task Task, targets []RepoTarget, script string) Attempt {
	w.t.Helper()
	a := w.start(task, targets)
	w.sh(a.Dir, script)
	w.fake.end(runs.ID(a.SessionID), sessions.TurnCompleted, 0)
	return must(w.b.Attempt(w.t.Context(), a.ID))(w.t)
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestCleanNeverDeletesWorkThatIsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	// A submodule, which has a filter of its own.
	const submodule = "git init -q sub; cd sub; echo '* filter=evil' >.gitattributes; echo y >f; git add .; git commit -qm s; cd ..; git add sub 2>/dev/null; git commit -qm sub; "
	proof := w.dir + "/ran"
	for _, c := range []struct {
		what, script string
		kept         []Kept
		removed      bool
	}{
		{what: "nothing was done", script: "true", removed: true},
		{what: "only ignored files", script: "echo out >$(git rev-parse --git-common-dir)/info/exclude; echo x >out", removed: true},
		{what: "a change", script: "echo 2 >a", kept: []Kept{{"api", KeptUncommitted}}},
		{what: "a staged change", script: "echo 2 >a; git add a", kept: []Kept{{"api", KeptUncommitted}}},
		{what: "a mode", script: "chmod +x a", kept: []Kept{{"api", KeptUncommitted}}},
		{what: "a new file", script: "mkdir d; echo 2 >d/b", kept: []Kept{{"api", KeptUncommitted}}},
		{what: "a repository inside", script: "git init -q in; echo x >in/y", kept: []Kept{{"api", KeptUncommitted}}},
		{what: "a commit on the branch", script: "echo 2 >a; git commit -qam 2", kept: []Kept{{"api", KeptUnmerged}}, removed: true},
		{what: "a commit that is pushed", script: "echo 3 >a; git commit -qam 3; git update-ref refs/remotes/origin/x HEAD", removed: true},
		{what: "a commit that is in another branch", script: "echo 4 >a; git commit -qam 4; git branch other", removed: true},
		{what: "a commit without a branch", script: "git checkout -q --detach; echo 5 >a; git commit -qam 5", kept: []Kept{{"api", KeptUnreachable}}},
		{what: "an empty submodule", script: submodule + "rm -rf sub; mkdir sub", kept: []Kept{{"api", KeptUnmerged}}, removed: true},
		{what: "a filled submodule", script: submodule + "git -C sub config filter.evil.clean 'touch " + proof + "; cat'; touch -d @1 sub/f", kept: []Kept{{"api", KeptSubmodule}}},
		{what: "no repository any more", script: "rm .git", kept: []Kept{{"api", KeptUnreadable}}},
		{what: "no folder any more", script: "cd ..; rm -r api", removed: true},
		{what: "no folder, and a commit without a branch", script: "git checkout -q --detach; echo 6 >a; git commit -qam 6; cd ..; rm -r api", kept: []Kept{{"api", KeptUnreachable}}},
	} {
		a := w.ended(task, targets, c.script)
		commit := w.sh(w.dir+"/api", "git rev-parse '"+a.Branch+"'")
		dry := must(w.b.Clean(t.Context(), Retention{AttemptIDs: []string{a.ID}, DryRun: true}))(t)
		if there(a.Repos[0].Worktree) == (c.what == "no folder any more" || c.what == "no folder, and a commit without a branch") {
			t.Errorf("%s: a dry run has removed it", c.what)
		}
		got := must(w.b.Clean(t.Context(), Retention{AttemptIDs: []string{a.ID}}))(t)
		if len(got) != 1 || got[0].Removed != c.removed || !reflect.DeepEqual(got[0].Kept, c.kept) || !reflect.DeepEqual(got, dry) {
			t.Errorf("%s: %+v, dry %+v", c.what, got, dry)
			continue
		}
		if kept := there(w.b.folder(a.ID)); kept == c.removed {
			t.Errorf("%s: its folder is there: %v", c.what, kept)
		}
		left := w.sh(w.dir+"/api", "git rev-parse --verify --quiet 'refs/heads/"+a.Branch+"' || true")
		if want := map[bool]string{true: "", false: commit}[c.removed && c.kept == nil]; left != want {
			t.Errorf("%s: the branch is %q, want %q", c.what, left, want)
		}
		_, err := w.b.Changes(t.Context(), a.ID, false)
		if c.removed {
			wants(t, c.what, err, fault.WorkspaceGone)
			if again := must(w.b.Attempt(t.Context(), a.ID))(t); !again.Cleaned || again.State != Completed {
				t.Errorf("%s: %+v", c.what, again)
			}
		}
	}
	if there(proof) {
		t.Error("the filter of the submodule ran")
	}
}

func TestCleanConsidersOldAttemptsOfFinishedTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	for _, status := range Statuses() {
		task := w.task(p, string(status))
		w.ended(task, targets, "true")
		must(w.b.UpdateTask(t.Context(), Ask{}, task.ID, TaskChange{Status: &status}))(t)
	}
	if got := must(w.b.Clean(t.Context(), Retention{Age: DefaultAge}))(t); len(got) != 0 {
		t.Errorf("too young: %+v", got)
	}
	w.clock.add(DefaultAge + time.Hour)
	got := must(w.b.Clean(t.Context(), Retention{Age: DefaultAge}))(t)
	if len(got) != 2 || !got[0].Removed || !got[1].Removed || !reflect.DeepEqual(got[0].Branches, []string{"api", "web"}) {
		t.Errorf("%+v", got)
	}
	if again := must(w.b.Clean(t.Context(), Retention{Age: DefaultAge}))(t); len(again) != 0 {
		t.Errorf("again: %+v", again)
	}
	_, err := w.b.Clean(t.Context(), Retention{AttemptIDs: []string{"x"}})
	wants(t, "unknown", err, fault.AttemptNotFound)
}

func TestCleanKeepsAllOrNothingOfAnAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api", "web")
	task := w.task(p, "x")
	running := w.start(task, targets)
	one := w.ended(task, targets, "echo 2 >web/a")
	beside := w.ended(task, targets, "echo note >NOTES")
	got := must(w.b.Clean(t.Context(), Retention{AttemptIDs: []string{running.ID, one.ID, beside.ID}}))(t)
	if len(got) != 3 || !reflect.DeepEqual(got[0].Kept, []Kept{{"", KeptRunning}}) || !reflect.DeepEqual(got[1].Kept, []Kept{{"web", KeptUncommitted}}) ||
		!reflect.DeepEqual(got[2].Kept, []Kept{{"", KeptForeign}}) || got[0].Removed || got[1].Removed || got[2].Removed {
		t.Errorf("%+v", got)
	}
	if !there(running.Repos[0].Worktree) || !there(one.Repos[0].Worktree) || !there(one.Repos[1].Worktree) || !there(beside.Dir+"/NOTES") {
		t.Error("something is gone")
	}
	w.sh(beside.Dir, "rm NOTES")
	if got := must(w.b.Clean(t.Context(), Retention{AttemptIDs: []string{beside.ID}}))(t); !got[0].Removed || there(beside.Dir) {
		t.Errorf("%+v", got)
	}
}

func TestADeletedTaskLeavesOnlyWorkThatIsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, targets := w.project("api")
	task := w.task(p, "x")
	running := w.start(task, targets)
	_, err := w.b.DeleteTask(t.Context(), Ask{}, task.ID)
	if wants(t, "while an agent is at work", err, fault.AttemptRunning); !there(running.Dir) {
		t.Error("its worktree is gone")
	}
	must(w.b.StopAttempt(t.Context(), Ask{}, running.ID, true))(t)
	work := w.ended(task, targets, "echo 2 >a")
	ask := Ask{Tool: "delete_task", Once: &runs.Once{Key: "k", Hash: "h"}}
	d := must(w.b.DeleteTask(t.Context(), ask, task.ID))(t)
	if len(d.Kept) != 1 || d.Kept[0].AttemptID != work.ID || there(running.Dir) || !there(work.Dir) {
		t.Errorf("%+v", d)
	}
	if again := must(w.b.DeleteTask(t.Context(), ask, task.ID))(t); !reflect.DeepEqual(again, d) {
		t.Errorf("again: %+v", again)
	}
	_, err = w.b.Attempt(t.Context(), work.ID)
	wants(t, "an attempt of it", err, fault.AttemptNotFound)
	_, err = w.b.Context(t.Context(), work.Dir)
	wants(t, "its folder", err, fault.NoContext)
	w.clock.add(DefaultAge + time.Hour)
	if got := must(w.b.Clean(t.Context(), Retention{Age: DefaultAge}))(t); len(got) != 1 || got[0].Removed {
		t.Errorf("%+v", got)
	}
	w.sh(work.Dir, "git checkout -q a")
	if got := must(w.b.Clean(t.Context(), Retention{Age: DefaultAge}))(t); len(got) != 1 || !got[0].Removed {
		t.Errorf("%+v", got)
	}
	var rows int
	if err := w.b.db.QueryRow(`SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM attempts) + (SELECT count(*) FROM attempt_repos)`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows are left: %v", rows, err)
	}
}
