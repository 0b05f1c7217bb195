package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// outcome is what a call came to in a word: the code of its failure, the reason for which
// it is blocked, or ok.
func (p *peer) outcome(tool string, a any) (word, text string) {
	p.t.Helper()
	got := p.call(tool, a)
	var r struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
		Content    []struct{ Text string }
	}
	if got.Error != nil || json.Unmarshal(got.Result, &r) != nil {
		p.t.Fatalf("%s: %s", tool, got.Error)
	}
	if r.IsError {
		return field(p.t, json.RawMessage(r.Content[0].Text), "code"), r.Content[0].Text
	}
	if field(p.t, r.Structured, "blocked") == "true" {
		return field(p.t, r.Structured, "blocked_reason"), string(r.Structured)
	}
	return "ok", string(r.Structured)
}

// What is no argument is refused, and the server answers the next call.
func TestBoardHostileArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	task := d.task("the only one")
	long := strings.Repeat("x", 300_000)
	start := func(more args) args {
		a := args{"task_id": task, "executor": "SCRIPT", "prompt": "true", "repos": []args{{"repo_id": d.repo, "target_branch": "main"}}}
		for k, v := range more {
			a[k] = v
		}
		return a
	}
	on := func(branch string) args {
		return start(args{"repos": []args{{"repo_id": d.repo, "target_branch": branch}}})
	}
	for i, c := range []struct {
		want, tool string
		arguments  any
	}{
		{"invalid_argument", "list_tasks", []string{}}, {"invalid_argument", "list_tasks", "x"}, {"invalid_argument", "list_tasks", 42},
		{"invalid_argument", "list_tasks", args{"Project_Id": d.project}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": -1}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": 0}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": 2147483648}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": json.RawMessage("9007199254740993")}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": 1.5}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": "50"}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "limit": true}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "status": "TODO"}},
		{"invalid_argument", "list_tasks", args{"project_id": "../../" + d.project}},
		{"invalid_cursor", "list_tasks", args{"project_id": d.project, "cursor": "../../x"}},
		{"invalid_argument", "list_tasks", args{"project_id": d.project, "cursor": long}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": long}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": ""}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": " \t\n"}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "\x1b[31mred\x1b]0;evil\a"}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "a\nb"}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "x", "request_id": ""}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "x", "request_id": "../x"}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "x", "request_id": "\n"}},
		{"invalid_argument", "create_task", args{"project_id": d.project, "title": "x", "request_id": long}},
		{"invalid_argument", "start_task_attempt", start(args{"prompt": long})},
		{"invalid_argument", "start_task_attempt", start(args{"config": args{"sandbox": "danger-full-access"}})},
		{"invalid_argument", "start_task_attempt", start(args{"repos": []args{}})},
		{"executor_unavailable", "start_task_attempt", start(args{"variant": "danger-full-access"})},
		{"executor_unavailable", "start_task_attempt", start(args{"variant": "DEFAULT"})},
		{"executor_unavailable", "start_task_attempt", start(args{"executor": "../SCRIPT"})},
		{"executor_unavailable", "start_task_attempt", start(args{"executor": "$(id)"})},
		{"invalid_argument", "start_task_attempt", on("--format=evil")}, {"invalid_argument", "start_task_attempt", on("-x")},
		{"invalid_argument", "start_task_attempt", on("ext::sh -c id")}, {"invalid_argument", "start_task_attempt", on("main..main")},
		{"invalid_argument", "start_task_attempt", on("main^{/x}")}, {"invalid_argument", "start_task_attempt", on("../../HEAD")},
		{"invalid_argument", "start_task_attempt", on("@{-1}")}, {"invalid_argument", "start_task_attempt", on("a b\nc")},
		{"ref_not_found", "start_task_attempt", on("nowhere")},
		{"invalid_argument", "follow_up", args{"attempt_id": task, "action": "send", "prompt": ""}},
		{"attempt_not_found", "follow_up", args{"attempt_id": task, "action": "send", "prompt": "x"}},
		{"session_not_found", "follow_up", args{"session_id": task, "action": "cancel"}},
	} {
		got, text := d.outcome(c.tool, c.arguments)
		if got != c.want || len(text) > 5000 || strings.Contains(text, d.home) {
			t.Errorf("%d: %s gives %s, want %s: %.300s", i, c.tool, got, c.want, text)
		}
	}
	d.fails("list_tasks", args{}, "missing_required")
	var out struct{ Attempts []any }
	d.fetch("list_task_attempts", args{"task_id": task}, &out)
	if len(out.Attempts) != 0 {
		t.Errorf("attempts were started: %v", out.Attempts)
	}
	if got := d.git(".", "branch", "--list"); got != "* main" {
		t.Errorf("branches were left behind: %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(d.state, "board", "attempts", "*")); len(left) != 0 {
		t.Errorf("folders were left behind: %q", left)
	}
}

// Titles and branches are data, whatever they look like.
func TestBoardHostileTitlesAndBranchesDoNoHarm(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	write(t, filepath.Join(d.root, ".git", "refs", "heads", "--format=evil"), d.git(".", "rev-parse", "HEAD")+"\n")
	for _, title := range []string{
		"--upload-pack=touch x", "; rm -rf /", "$(id)", "`id`", "../../../etc/passwd", ".lock", "HEAD", "@{u}", "'\"\\", "<script>alert(1)</script>", "\u202egnp.exe", "%2e%2e/",
	} {
		if got := field(t, d.must("get_task", args{"task_id": d.task(title)}), "title"); got != title {
			t.Errorf("%q is kept as %q", title, got)
		}
	}
	for _, title := range []string{"--upload-pack=touch x", "🙂 é 漢字", strings.Repeat("漢", 250), "x..y~^:?*[\\ @{u}.lock", "$(id)/../refs/heads/main"} {
		task := d.task(title)
		a := d.start(task, "git rev-parse --abbrev-ref HEAD >branch")
		if s := d.settled(a.id); field(t, s, "state") != "completed" {
			t.Fatalf("%q: %s", title, s)
		}
		if got := strings.TrimSpace(read(t, d.worktree(a, "root/branch"))); got != a.branch || !strings.HasPrefix(got, "gantry/") || strings.ContainsAny(got, " ~^:?*[\\\x1b\n") || len(got) > 100 {
			t.Errorf("%q works on the branch %q, which is called %q", title, got, a.branch)
		}
	}
}

// No path of a caller leads out of the worktrees.
func TestBoardHostilePathsDoNotLeaveTheWorktree(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	write(t, filepath.Join(d.home, "secret"), "top secret")
	a := d.attempt(strings.Join([]string{
		"ln -s '" + d.home + "' out", "ln -s loop loop", "ln -s \"$PWD/main.go\" inside", "mkfifo pipe", "mkdir dir", `printf '\377\376\000x' >wide`, "truncate -s 10G sparse",
		"printf 'fence\\n```\\n+++ b/other\\n\\033[31m' >odd.md", "ln -s /proc/self/environ environ", "mkdir -p .GIT2",
	}, "\n"))
	if s := d.status(a.id); field(t, s, "state") != "completed" {
		t.Fatalf("%s", s)
	}
	sparse := args{"attempt_id": a.id, "path": "root/sparse", "max_bytes": 10, "start": int64(10 << 30)}
	if got, text := d.outcome("get_attempt_file", sparse); got != "ok" || field(t, json.RawMessage(text), "bytes") != "0" {
		t.Errorf("beyond 10 GB: %s %s", got, text)
	}
	if err := os.Remove(d.worktree(a, "root/sparse")); err != nil {
		t.Fatal(err)
	}
	outside := "path_outside_workspace"
	for path, want := range map[string]string{
		"root/../../../secret": outside, "root/docs/../../../x": outside, "../secret": outside, "/etc/passwd": outside, d.home + "/secret": outside, "root": outside,
		"root/out/secret": outside, "root/environ": outside, "root/.git": outside, "root/.git/config": outside, "root/.GIT/config": outside, "root-evil/x": outside,
		"root//etc/passwd": outside, "proc/self/environ": outside, "root/ok\x00.png": outside, "file:///etc/passwd": outside,
		"root/loop": "", "root/pipe": "", "root/dir": "", "root/.": "", "root/%2e%2e%2fsecret": "", "root/．．/secret": "", "root/" + strings.Repeat("a/", 2000) + "x": "",
		"root/" + strings.Repeat("n", 300): "", "root/.git\u200c/config": "",
	} {
		got, text := d.outcome("get_attempt_file", args{"attempt_id": a.id, "path": path})
		if want == "" && got != "invalid_argument" && got != outside || want != "" && got != want {
			t.Errorf("%.80q gives %s: %.200s", path, got, text)
		}
		if strings.Contains(text, "top secret") || strings.Contains(text, "root:x") || len(text) > 6000 {
			t.Errorf("%.80q leads out: %.300s", path, text)
		}
		if got, text := d.outcome("get_attempt_patch", args{"attempt_id": a.id, "paths": []string{path}, "force": true, "max_bytes": 1000}); strings.Contains(text, "top secret") || got == "internal" {
			t.Errorf("%.80q as a patch: %s %.300s", path, got, text)
		}
	}
	for path, want := range map[string]string{"root/inside": outside, "root/wide": "ok", "root/odd.md": "ok"} { // a link is not followed, absolute ones least
		if got, text := d.outcome("get_attempt_file", args{"attempt_id": a.id, "path": path}); got != want {
			t.Errorf("%s gives %s: %s", path, got, text)
		}
	}
	patch := field(t, d.must("get_attempt_patch", args{"attempt_id": a.id, "paths": []string{"root/odd.md"}}), "patch")
	if !strings.Contains(patch, "++++ b/other\n") || !strings.Contains(patch, "+```\n") || !strings.Contains(patch, "\x1b[31m") {
		t.Errorf("a patch is data: %q", patch)
	}
}

// What an agent writes is data, and bounded; secrets of the server are masked in it.
func TestBoardHostileOutputOfAnAgentIsKeptInBounds(t *testing.T) {
	t.Parallel()
	d := newBareDesk(t, `
[[executors]]
name = "EVENTS"
command = ["sh", "-c", "{prompt}"]
output = "jsonl"
`)
	d.env = append(d.env, "OPENAI_API_KEY=sk-verysecretvalue0123456789", "MY_CREDENTIAL=hunter2hunter2")
	d.reopen()
	raw := d.must("start_task_attempt", args{
		"task_id": d.task("noise"), "executor": "EVENTS", "repos": []args{{"repo_id": d.repo, "target_branch": "main"}},
		"prompt": strings.Join([]string{
			`echo '{"type":"unknown.event","x":1}'`, `echo 'not json {'`, `echo '{"type":"message","text":"the key is sk-verysecretvalue0123456789"}'`,
			`head -c 20000000 /dev/zero | tr '\0' x; echo`, `printf '\377\376\n'`, `printf '\033[31mred\n'`, `echo hunter2hunter2`, `printf '{"type":"half'`,
		}, "\n"),
	})
	id := field(t, raw, "attempt_id")
	if s := d.settled(id); field(t, s, "state") != "completed" {
		t.Errorf("%s", s)
	}
	for _, channel := range []string{"raw", "normalized"} {
		page := string(d.must("tail_attempt_logs", args{"attempt_id": id, "channel": channel, "limit": 1000}))
		if strings.Contains(page, "verysecretvalue") || strings.Contains(page, "hunter2hunter2") {
			t.Errorf("%s shows a secret: %.500s", channel, page)
		}
		if len(page) > 200_000 {
			t.Errorf("%s: a page of %d bytes", channel, len(page))
		}
	}
	if page := d.must("tail_session_messages", args{"attempt_id": id}); strings.Contains(string(page), "verysecretvalue") || len(page) > 100_000 {
		t.Errorf("%d bytes of transcript: %.500s", len(page), page)
	}
}

// Twenty messages at once leave one in the queue; one key fired often acts once.
func TestBoardHostileCrowdsActOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("true")
	var waiting []<-chan answer
	for i := range 20 {
		waiting = append(waiting, d.beginCall("follow_up", args{"attempt_id": a.id, "action": "queue", "prompt": fmt.Sprintf("echo %d", i)}))
	}
	create := args{"project_id": d.project, "title": "once", "request_id": "crowd"}
	var created []<-chan answer
	for range 20 {
		created = append(created, d.beginCall("create_task", create))
	}
	ids := map[string]bool{}
	for _, c := range created {
		got := d.peer.wait(c)
		var r struct {
			IsError    bool            `json:"isError"`
			Structured json.RawMessage `json:"structuredContent"`
		}
		if err := json.Unmarshal(got.Result, &r); err != nil {
			t.Fatal(err)
		}
		if r.IsError && !strings.Contains(string(got.Result), "idempotency_in_progress") {
			t.Errorf("%s", got.Result)
		}
		if !r.IsError {
			ids[field(t, r.Structured, "task_id")] = true
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d tasks were made", len(ids))
	}
	for _, c := range waiting {
		if got := d.peer.wait(c); got.Error != nil || strings.Contains(string(got.Result), `"isError":true`) {
			t.Errorf("%s %s", got.Error, got.Result)
		}
	}
	d.open("gate")
	eventually(t, "the queued turn is over", func() bool {
		return field(t, d.settled(a.id), "latest_execution_process_id") != a.turn && field(t, d.status(a.id), "state") == "completed"
	})
	if got := d.prompts(args{"attempt_id": a.id}); len(got) != 2 {
		t.Errorf("%d turns: %q", len(got), got)
	}
}

// A task with work in progress is not deleted, and work that is not committed stays.
func TestBoardDeletingLosesNoWork(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.held("echo precious >>main.go")
	d.fails("delete_task", args{"task_id": a.task}, "attempt_running")
	d.open("gate")
	d.settled(a.id)
	var out struct {
		Deleted bool `json:"deleted"`
		Kept    []struct {
			ID      string   `json:"attempt_id"`
			Branch  string   `json:"workspace_branch"`
			Reasons []string `json:"reasons"`
		} `json:"kept"`
	}
	where := d.worktree(a, "root/main.go")
	d.fetch("delete_task", args{"task_id": a.task}, &out)
	if !out.Deleted || len(out.Kept) != 1 || out.Kept[0].ID != a.id || out.Kept[0].Branch != a.branch || len(out.Kept[0].Reasons) != 1 || out.Kept[0].Reasons[0] != "root: uncommitted" {
		t.Errorf("%+v", out)
	}
	if got := read(t, where); !strings.Contains(got, "precious") {
		t.Errorf("the work is gone: %q", got)
	}
}

// A server that is killed in the middle of a turn loses nothing: the agent goes on, and the
// transcript is whole when a server is back.
func TestBoardKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.start(d.task("long"), "echo before; "+d.wait("gate")+"echo after; echo made >made")
	d.logged(a.id, "at the gate")
	d.signal(syscall.SIGKILL)
	d.open("gate")
	d.reopen()
	if s := d.settled(a.id); field(t, s, "state") != "completed" {
		t.Errorf("%s", s)
	}
	if got := strings.Join(d.log(a.id, nil).texts(t), " "); got != "before at the gate after" {
		t.Errorf("the log is %q", got)
	}
	if got := d.changes(a.id, nil).paths(); len(got) != 1 || got[0] != "root/made" {
		t.Errorf("%q", got)
	}
}
