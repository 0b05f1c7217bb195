package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// desk is a world with a board: its root is a repository on the branch main, which is a
// project, and the prompts of its executor SCRIPT are shell scripts. A client is at it.
type desk struct {
	*world
	*peer
	project string // project_id of the root's project
	repo    string // repo_id of its repository
	name    string // its name
	flags   []string
}

// executors is the configuration that makes a prompt a shell script.
const executors = `
[[executors]]
name = "SCRIPT"
command = ["sh", "-c", "{prompt}"]
variants = ["FAST"]
`

// newDesk makes a desk with more configuration and a client.
func newDesk(t *testing.T, config ...string) *desk {
	t.Helper()
	d := newBareDesk(t, config...)
	d.reopen()
	return d
}

// newBareDesk makes a desk that nobody is at yet.
func newBareDesk(t *testing.T, config ...string) *desk {
	t.Helper()
	d := &desk{world: newBareWorld(t), name: "root", flags: []string{"--toolsets=board", "--rate-limit=0"}}
	write(t, filepath.Join(d.home, ".config", "gantry", "gantry.toml"), strings.Join(config, "\n")+executors)
	write(t, filepath.Join(d.home, ".gitconfig"), "[user]\n\tname = A\n\temail = a@example.com\n")
	d.repository(".", map[string]string{"README.md": "# Root\n", "main.go": "package main\n", "docs/guide.md": "Guide.\n"})
	for _, gate := range []string{"gate", "second"} {
		if err := syscall.Mkfifo(filepath.Join(d.home, gate), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// newBareWorld makes a world with nothing in it.
func newBareWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: filepath.Join(base, "root"), state: filepath.Join(base, "state"), home: filepath.Join(base, "home")}
	for _, dir := range []string{w.root, w.state, w.home} {
		mkdir(t, dir)
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR=" + base, "LANG=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	t.Cleanup(func() {
		if left := mentioning(base); len(left) > 0 && !t.Failed() {
			t.Errorf("processes are left behind: %v", left)
		}
	})
	return w
}

// reopen puts another client at the desk, and finds the root's project.
func (d *desk) reopen() {
	d.world.t.Helper()
	d.peer = d.serve(stateful, d.flags...)
	var projects struct {
		Projects []struct {
			ID     string `json:"project_id"`
			Source string `json:"source"`
		} `json:"projects"`
	}
	d.fetch("list_projects", args{}, &projects)
	for _, p := range projects.Projects {
		if p.Source == "root" {
			d.project = p.ID
		}
	}
	if d.project == "" {
		return // the configuration has the repository in a project of its own
	}
	d.repo = d.repos(d.project)[d.name]
}

// repos returns the ids of a project's repositories by their names.
func (d *desk) repos(project string) map[string]string {
	d.world.t.Helper()
	var out struct {
		Repos []struct {
			ID     string `json:"repo_id"`
			Name   string `json:"name"`
			Branch string `json:"default_branch"`
		} `json:"repos"`
	}
	d.fetch("list_repos", args{"project_id": project}, &out)
	ids := map[string]string{}
	for _, r := range out.Repos {
		if ids[r.Name] = r.ID; r.Branch != "main" {
			d.world.t.Errorf("%s is on the branch %q", r.Name, r.Branch)
		}
	}
	return ids
}

// fetch calls a tool, which must succeed, and decodes its result.
func (p *peer) fetch(tool string, a args, out any) {
	p.t.Helper()
	raw := p.must(tool, a)
	if err := json.Unmarshal(raw, out); err != nil {
		p.t.Fatalf("%s: %v: %s", tool, err, raw)
	}
}

// toolFailure is the envelope of a tool that fails with a result.
type toolFailure struct {
	Code      string          `json:"code"`
	Message   string          `json:"message"`
	Retryable bool            `json:"retryable"`
	Hint      string          `json:"hint"`
	Details   json.RawMessage `json:"details"`
}

// fails calls a tool, which must fail with the code, and a hint, as a result.
func (p *peer) fails(tool string, a any, code string) toolFailure {
	p.t.Helper()
	got := p.call(tool, a)
	var r struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Type, Text string }
	}
	if got.Error != nil || json.Unmarshal(got.Result, &r) != nil || !r.IsError || r.Structured != nil || len(r.Content) != 1 {
		p.t.Fatalf("%s does not fail with %s: %s %.300s", tool, code, got.Error, got.Result)
	}
	var f toolFailure
	if err := json.Unmarshal([]byte(r.Content[0].Text), &f); err != nil || f.Code != code || f.Hint == "" || f.Message == "" {
		p.t.Fatalf("%s fails with %.600s, want %s", tool, r.Content[0].Text, code)
	}
	return f
}

// task makes a task and returns its id.
func (d *desk) task(title string) string {
	d.world.t.Helper()
	return field(d.world.t, d.must("create_task", args{"project_id": d.project, "title": title}), "task_id")
}

// work is a started attempt.
type work struct {
	task, id, session, turn string
	branch                  string
}

// start starts an attempt at a task in the root's repository.
func (d *desk) start(task, script string) work {
	d.world.t.Helper()
	return d.startIn(task, script, d.repo)
}

func (d *desk) startIn(task, script string, repos ...string) work {
	d.world.t.Helper()
	var targets []args
	for _, r := range repos {
		targets = append(targets, args{"repo_id": r, "target_branch": "main"})
	}
	raw := d.must("start_task_attempt", args{"task_id": task, "executor": "script", "prompt": script, "repos": targets})
	get := func(name string) string { return field(d.world.t, raw, name) }
	return work{get("task_id"), get("attempt_id"), get("session_id"), get("execution_process_id"), get("workspace_branch")}
}

// attempt makes a task, starts an attempt at it and waits for the end of its turn.
func (d *desk) attempt(script string) work {
	d.world.t.Helper()
	a := d.start(d.task("a task"), script)
	d.settled(a.id)
	return a
}

// held starts an attempt that waits at a gate, and returns it when it does.
func (d *desk) held(script string) work {
	d.world.t.Helper()
	a := d.start(d.task("a long task"), d.wait("gate")+script)
	d.logged(a.id, "at the gate")
	return a
}

// wait is the part of a script that waits at a gate.
func (d *desk) wait(gate string) string {
	return fmt.Sprintf("echo at the %s; read word <'%s'; ", gate, filepath.Join(d.home, gate))
}

// open lets a script go on that waits at a gate.
func (d *desk) open(gate string) {
	d.world.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.home, gate), os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		d.world.t.Fatal(err)
	}
	fmt.Fprintln(f, "go")
	f.Close()
}

// status is what get_attempt_status says of an attempt.
func (d *desk) status(attempt string) json.RawMessage {
	d.world.t.Helper()
	return d.must("get_attempt_status", args{"attempt_id": attempt})
}

// settled waits until no turn of an attempt is under way and returns its status.
func (d *desk) settled(attempt string) (status json.RawMessage) {
	d.world.t.Helper()
	eventually(d.world.t, "the turn is over", func() bool {
		status = d.status(attempt)
		return field(d.world.t, status, "state") != "running"
	})
	return status
}

// logged waits until the log of an attempt has a text.
func (d *desk) logged(attempt, text string) {
	d.world.t.Helper()
	eventually(d.world.t, "the log has "+text, func() bool {
		return strings.Contains(string(d.must("tail_attempt_logs", args{"attempt_id": attempt, "channel": "raw"})), text)
	})
}

// file is an item of get_attempt_changes.
type file struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path"`
	Status  string `json:"status"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary"`
	OldMode string `json:"old_mode"`
	NewMode string `json:"new_mode"`
}

// changeList is a page of get_attempt_changes.
type changeList struct {
	Summary struct {
		Files   int   `json:"file_count"`
		Added   int   `json:"added"`
		Deleted int   `json:"deleted"`
		Bytes   int64 `json:"total_bytes"`
	} `json:"summary"`
	Blocked bool    `json:"blocked"`
	Reason  string  `json:"blocked_reason"`
	Code    string  `json:"code"`
	Hint    string  `json:"hint"`
	Files   []file  `json:"files"`
	Next    *string `json:"next_cursor"`
}

func (d *desk) changes(attempt string, more args) (out changeList) {
	d.world.t.Helper()
	a := args{"attempt_id": attempt}
	for k, v := range more {
		a[k] = v
	}
	d.fetch("get_attempt_changes", a, &out)
	return out
}

// paths returns the paths of changed files.
func (c changeList) paths() (out []string) {
	for _, f := range c.Files {
		out = append(out, f.Path)
	}
	return out
}

// find returns a changed file.
func (c changeList) find(t *testing.T, path string) file {
	t.Helper()
	i := slices.IndexFunc(c.Files, func(f file) bool { return f.Path == path })
	if i < 0 {
		t.Fatalf("%q is not among %q", path, c.paths())
	}
	return c.Files[i]
}
