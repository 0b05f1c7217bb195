package board

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// world is a machine for one test: a home, a board, and sessions whose agents do what the
// test says.
type world struct {
	t     *testing.T
	dir   string
	env   []string
	clock *clock
	fake  *fakeSessions
	b     *Board
}

// clock moves by a second each time that it is read.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newWorld opens a board whose configuration has the projects.
func newWorld(t *testing.T, projects ...NewProject) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, env: gitEnv(dir), clock: &clock{now: time.Unix(1_700_000_000, 0)}}
	w.fake = &fakeSessions{dir: filepath.Join(dir, "sessions"), now: w.clock.read}
	for _, d := range []string{w.fake.dir, filepath.Join(dir, "home")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.open(func(o *Options) { o.Projects = projects })
	return w
}

func gitEnv(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@example.org",
	}
}

// open opens the board, anew when it is open.
func (w *world) open(change func(*Options)) {
	w.t.Helper()
	if w.b != nil {
		w.b.Close()
	}
	b, err := Open(w.t.Context(), options(w.t, w.dir, w.env, w.fake, w.clock.read, change))
	if err != nil {
		w.t.Fatal(err)
	}
	w.b = b
	w.t.Cleanup(func() { b.Close() })
}

func options(t testing.TB, dir string, env []string, fake *fakeSessions, now func() time.Time, change func(*Options)) Options {
	t.Helper()
	g, err := git.New(git.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	known, err := agents.CLIs(agents.Options{Custom: []agents.Custom{{Name: "SCRIPT", Command: []string{"./agent.sh"}, Variants: []string{"FAST"}}}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: filepath.Join(dir, "board"), Git: g, Sessions: fake, Journals: fake, Executors: known, Now: now}
	if change != nil {
		change(&o)
	}
	return o
}

// sh runs a script as the person would, and returns what it printed.
func (w *world) sh(dir, script string) string {
	w.t.Helper()
	r, err := proc.Run(w.t.Context(), proc.Spec{Name: "sh", Args: []string{"-euc", script}, Dir: dir, Env: w.env})
	if err != nil || !r.OK() {
		w.t.Fatalf("%s\n%v %s%s", script, err, r.Stdout, r.Stderr)
	}
	return strings.TrimSpace(string(r.Stdout))
}

// repo makes a repository with one commit on main.
func (w *world) repo(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	w.sh("/", "git init -q -b main '"+dir+"'; cd '"+dir+"'; echo one >a; git add .; git commit -qm one")
	return dir
}

// project makes a project of repositories with these names.
func (w *world) project(names ...string) (Project, []RepoTarget) {
	w.t.Helper()
	p := NewProject{Name: "project of " + strings.Join(names, " and ")}
	for _, name := range names {
		p.Repos = append(p.Repos, RepoAt{Path: w.repo(name)})
	}
	made := must(w.b.AddProject(w.t.Context(), Ask{}, p))(w.t)
	var targets []RepoTarget
	for _, r := range must(w.b.Repos(w.t.Context(), made.ID))(w.t) {
		targets = append(targets, RepoTarget{r.ID, "main"})
	}
	return made, targets
}

func (w *world) task(p Project, title string) Task {
	w.t.Helper()
	return must(w.b.CreateTask(w.t.Context(), Ask{}, NewTask{ProjectID: p.ID, Title: title}))(w.t)
}

func (w *world) start(t Task, targets []RepoTarget) Attempt {
	w.t.Helper()
	return must(w.b.StartAttempt(w.t.Context(), Ask{}, NewAttempt{TaskID: t.ID, Executor: "script", Repos: targets}))(w.t)
}

// status returns the status of a task.
func (w *world) status(t Task) Status {
	w.t.Helper()
	return must(w.b.Task(w.t.Context(), t.ID))(w.t).Status
}

// nothingLeft fails unless the board has made nothing: no row, folder, branch or lease.
func (w *world) nothingLeft(repos ...string) {
	w.t.Helper()
	var rows int
	if err := w.b.db.QueryRow(`SELECT (SELECT count(*) FROM attempts) + (SELECT count(*) FROM attempt_repos) + (SELECT count(*) FROM keys WHERE result IS NULL)`).Scan(&rows); err != nil || rows != 0 {
		w.t.Errorf("%d rows are left: %v", rows, err)
	}
	for _, dir := range []string{"attempts", "leases"} {
		if left, err := os.ReadDir(filepath.Join(w.b.o.Dir, dir)); err != nil || len(left) > 0 {
			w.t.Errorf("%v is left in %s: %v", left, dir, err)
		}
	}
	for _, repo := range repos {
		if got := w.sh(filepath.Join(w.dir, repo), "git branch --format='%(refname)'; git worktree list | wc -l"); got != "refs/heads/main\n1" {
			w.t.Errorf("in %s there are %s", repo, got)
		}
	}
}

// must returns the value, or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wants(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// fakeSessions keeps each session as a file of lines, the last of which is how it is.
type fakeSessions struct {
	dir    string
	now    func() time.Time
	before func() // called before a session is started
	after  func() // and after
	fail   error
	got    int // sessions that were read
}

func (f *fakeSessions) file(id runs.ID) string { return filepath.Join(f.dir, string(id)) }

func (f *fakeSessions) Size(id runs.ID) int64 {
	info, err := os.Stat(f.file(id))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (f *fakeSessions) Start(_ context.Context, r sessions.StartRequest) (sessions.Session, error) {
	if f.before != nil {
		f.before()
	}
	if f.fail != nil {
		return sessions.Session{}, f.fail
	}
	if f.Size(r.ID) == 0 {
		f.put(sessions.Session{ID: r.ID, Title: r.Title, Executor: r.Executor, Variant: r.Variant, Dir: r.Dir, Labels: r.Labels, State: sessions.Running, Created: f.now(), LastResult: r.Prompt})
		f.begin(r.ID, "turn-1")
	}
	if f.after != nil {
		f.after()
	}
	return f.Get(r.Owner, r.ID)
}

func (f *fakeSessions) Get(_ string, id runs.ID) (s sessions.Session, err error) {
	f.got++
	raw, err := os.ReadFile(f.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return s, fault.New(fault.SessionNotFound, "there is no session %s", id)
	}
	if err != nil {
		return s, err
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	return s, json.Unmarshal(lines[len(lines)-1], &s)
}

func (f *fakeSessions) Stop(_ context.Context, a sessions.Ask, id runs.ID, _ bool) (sessions.Session, error) {
	if s, _ := f.Get(a.Owner, id); s.Last.State == sessions.TurnRunning {
		f.end(id, sessions.TurnKilled, 0)
	}
	return f.Get(a.Owner, id)
}

// begin begins a turn.
func (f *fakeSessions) begin(id runs.ID, turn string) {
	s, _ := f.Get("", id)
	s.Turns++
	s.State, s.Last = sessions.Running, sessions.Turn{ID: turn, Index: s.Turns, State: sessions.TurnRunning, Started: f.now()}
	f.put(s)
}

// end ends the turn that is under way.
func (f *fakeSessions) end(id runs.ID, state sessions.TurnState, exit int) {
	s, _ := f.Get("", id)
	s.State, s.Last.State, s.Last.Ended = sessions.Idle, state, f.now()
	if state != sessions.TurnKilled {
		s.Last.ExitCode = &exit
	}
	f.put(s)
}

func (f *fakeSessions) put(s sessions.Session) {
	s.Updated = f.now()
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(f.file(s.ID), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(raw, '\n')); err != nil {
		panic(err)
	}
}
