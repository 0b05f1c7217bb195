package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The scenarios of the seed about what an attempt changed, and what git can hold.

const manyFiles = `i=0; while [ $i -lt 501 ]; do i=$((i+1)); echo x >"file-$i"; done`

func TestBoardGuardBlocksTheFileListAndForceLiftsIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(manyFiles)
	c := d.changes(a.id, nil)
	if !c.Blocked || c.Reason != "threshold_exceeded" || c.Files == nil || len(c.Files) != 0 || c.Summary.Files != 501 || c.Summary.Added != 501 || c.Summary.Bytes != 1002 {
		t.Errorf("%+v", c)
	}
	if c.Code != "blocked_guardrails" || !strings.Contains(c.Hint, "force=true") {
		t.Errorf("%s: %s", c.Code, c.Hint)
	}
	forced := d.changes(a.id, args{"force": true})
	if forced.Blocked || forced.Reason != "" || forced.Summary != c.Summary || forced.Code != "" {
		t.Errorf("%+v", forced.Summary)
	}
	paths := forced.paths()
	for next := forced.Next; next != nil; {
		page := d.changes(a.id, args{"force": true, "cursor": *next})
		paths, next = append(paths, page.paths()...), page.Next
	}
	if len(paths) != 501 || !slices.IsSorted(paths) || !strings.HasPrefix(paths[0], "root/file-") {
		t.Errorf("%d paths", len(paths))
	}
	patch := args{"attempt_id": a.id, "paths": []string{"root/."}}
	if got := d.must("get_attempt_patch", patch); field(t, got, "blocked") != "true" || field(t, got, "blocked_reason") != "threshold_exceeded" || field(t, got, "patch") != "" {
		t.Errorf("%s", got)
	}
	patch["force"] = true
	if got := d.must("get_attempt_patch", patch); field(t, got, "blocked") != "false" || !strings.Contains(field(t, got, "patch"), "+++ b/root/file-1") {
		t.Errorf("%s", got)
	}
	if err := os.Remove(d.worktree(a, "root/file-501")); err != nil {
		t.Fatal(err)
	}
	if c := d.changes(a.id, nil); c.Blocked || c.Summary.Files != 500 {
		t.Errorf("500 files are blocked: %+v", c.Summary)
	}
}

func TestBoardPathsOfTwoReposBeginWithTheirNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := *d.world
	other.root = filepath.Join(filepath.Dir(d.root), "outside", "web")
	other.repository(".", map[string]string{"index.html": "<p>\n"})
	code, out, said := d.gantry("project", "add", "shop", "api="+d.root, other.root)
	if code != 0 {
		t.Fatalf("%d: %s", code, said)
	}
	project := strings.Fields(out)[0]
	repos := d.repos(project)
	if len(repos) != 2 || repos["api"] == "" || repos["web"] == "" {
		t.Fatalf("%v", repos)
	}
	task := field(t, d.must("create_task", args{"project_id": project, "title": "both"}), "task_id")
	a := d.startIn(task, "ls; echo 1 >>api/main.go; echo 2 >web/new.html; cd web && git add -A && git commit -qm work", repos["web"], repos["api"])
	if s := d.settled(a.id); field(t, s, "state") != "completed" {
		t.Errorf("%s", s)
	}
	c := d.changes(a.id, nil)
	if got := c.paths(); !slices.Equal(got, []string{"api/main.go", "web/new.html"}) {
		t.Errorf("%q", got)
	}
	patch := d.must("get_attempt_patch", args{"attempt_id": a.id, "paths": []string{"api/main.go", "web/."}})
	for _, want := range []string{"+++ b/api/main.go", "+++ b/web/new.html", "+1\n", "+2\n"} {
		if !strings.Contains(field(t, patch, "patch"), want) {
			t.Errorf("%q is not in %s", want, patch)
		}
	}
	if got := field(t, d.must("get_attempt_file", args{"attempt_id": a.id, "path": "web/new.html"}), "content"); got != "2\n" {
		t.Errorf("%q", got)
	}
	for _, path := range []string{"main.go", "root/main.go", "api", "web/../api/main.go"} {
		if got := d.call("get_attempt_file", args{"attempt_id": a.id, "path": path}); strings.Contains(string(got.Result), "package main") {
			t.Errorf("%s is read: %s", path, got.Result)
		}
	}
}

// Whatever git can hold is shown right, or refused right.
func TestBoardShowsEveryKindOfChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	long := strings.Repeat("a line that stays\n", 30)
	write(t, filepath.Join(d.root, "moved from"), long)
	write(t, filepath.Join(d.root, "tool.sh"), "#!/bin/sh\n")
	write(t, filepath.Join(d.root, "gone"), "old\n")
	d.git(".", "add", "-A")
	d.git(".", "commit", "-q", "-m", "more")
	sub := filepath.Join(filepath.Dir(d.root), "outside")
	d.git(sub, "init", "-q", "-b", "main")
	d.git(sub, "commit", "-q", "--allow-empty", "-m", "sub")
	a := d.attempt(strings.Join([]string{
		`printf 'a\0b' >binary`, `git mv 'moved from' 'moved to'`, `chmod +x tool.sh`, `rm gone`, `echo x >"$(printf 'with\nnewline')"`, `ln -s /etc/passwd link`,
		`truncate -s 100M huge`, `git -c protocol.file.allow=always submodule add -q '` + sub + `' sub`, `echo x >"$(printf 'caf\303\251')"`, `echo ignored >.gitignore; echo x >ignored`,
	}, "\n"))
	if s := d.status(a.id); field(t, s, "state") != "completed" {
		t.Fatalf("%s: %q", s, d.log(a.id, nil).texts(t))
	}
	c := d.changes(a.id, args{"force": true})
	for _, want := range []file{
		{Path: "root/binary", Status: "added", Binary: true, NewMode: "100644"},
		{Path: "root/moved to", OldPath: "root/moved from", Status: "renamed", OldMode: "100644", NewMode: "100644"},
		{Path: "root/tool.sh", Status: "modified", OldMode: "100644", NewMode: "100755"},
		{Path: "root/gone", Status: "deleted", Deleted: 1, OldMode: "100644"},
		{Path: "root/with\nnewline", Status: "added", Added: 1, NewMode: "100644"},
		{Path: "root/link", Status: "added", Added: 1, NewMode: "120000"},
		{Path: "root/café", Status: "added", Added: 1, NewMode: "100644"},
		{Path: "root/huge", Status: "added", Binary: true, NewMode: "100644"},
		{Path: "root/sub", Status: "added", Added: 1, NewMode: "160000"},
	} {
		got := c.find(t, want.Path)
		if want.NewMode == "160000" {
			got.Added = want.Added // a submodule has no lines of its own
		}
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	if slices.Contains(c.paths(), "root/ignored") {
		t.Error("an ignored file is a change")
	}
	unforced := d.changes(a.id, nil) // 100 MB are more than the 50 of the guard
	if !unforced.Blocked || unforced.Reason != "threshold_exceeded" || unforced.Summary.Bytes < 100<<20 {
		t.Errorf("%+v", unforced)
	}
	link := d.must("get_attempt_file", args{"attempt_id": a.id, "path": "root/link"})
	if field(t, link, "blocked") != "true" || field(t, link, "blocked_reason") != "path_outside_workspace" || strings.Contains(string(link), "root:x") {
		t.Errorf("%s", link)
	}
	huge := d.must("get_attempt_file", args{"attempt_id": a.id, "path": "root/huge", "start": 100<<20 - 5, "max_bytes": 100})
	if field(t, huge, "bytes") != "5" || field(t, huge, "truncated") != "false" {
		t.Errorf("%s", huge)
	}
	shown := []string{"root/moved to", "root/tool.sh", "root/sub", "root/link"}
	patch := d.must("get_attempt_patch", args{"attempt_id": a.id, "paths": shown})
	for _, want := range []string{"rename from root/moved from", "old mode 100644", "new mode 100755", "Subproject commit", "new file mode 120000"} {
		if !strings.Contains(field(t, patch, "patch"), want) {
			t.Errorf("%q is not in the patch\n%.3000s", want, field(t, patch, "patch"))
		}
	}
}

func TestBoardArtifactsAreSizeBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "é number $i"; done >big`)
	file := func(more args) (string, map[string]string) {
		t.Helper()
		call := args{"attempt_id": a.id, "path": "root/big"}
		for k, v := range more {
			call[k] = v
		}
		raw, out := d.must("get_attempt_file", call), map[string]string{}
		for _, name := range strings.Fields("blocked blocked_reason hint code bytes start size_bytes truncated") {
			out[name] = field(t, raw, name)
		}
		return field(t, raw, "content"), out
	}
	content, out := file(nil)
	if out["bytes"] != "65536" || out["truncated"] != "true" || out["blocked"] != "false" || !strings.HasPrefix(content, "é number 1\n") {
		t.Errorf("%v", out)
	}
	content, out = file(args{"max_bytes": 524_289})
	if out["blocked"] != "true" || out["blocked_reason"] != "size_exceeded" || !strings.Contains(out["hint"], "max_bytes") || content != "" {
		t.Errorf("%v", out)
	}
	if _, out = file(args{"max_bytes": 524_288}); out["blocked"] != "false" {
		t.Errorf("%v", out)
	}
	if content, out = file(args{"start": 1 << 40}); content != "" || out["bytes"] != "0" || out["truncated"] != "false" || out["blocked"] != "false" {
		t.Errorf("beyond the end: %v", out)
	}
	if content, out = file(args{"start": 1, "max_bytes": 4}); content != "\ufffd nu" || out["bytes"] != "4" {
		t.Errorf("within a character: %q %v", content, out)
	}
	patch := func(more args) map[string]string {
		t.Helper()
		call := args{"attempt_id": a.id, "paths": []string{"root/big"}}
		for k, v := range more {
			call[k] = v
		}
		raw, out := d.must("get_attempt_patch", call), map[string]string{}
		for _, name := range strings.Fields("blocked blocked_reason hint bytes truncated patch") {
			out[name] = field(t, raw, name)
		}
		return out
	}
	if p := patch(args{"max_bytes": 1000}); p["truncated"] != "true" || len(p["patch"]) > 1000 || p["bytes"] != fmt.Sprint(len(p["patch"])) || p["blocked"] != "false" {
		t.Errorf("%v", p)
	}
	if p := patch(args{"max_bytes": 2<<20 + 1}); p["blocked_reason"] != "size_exceeded" || p["patch"] != "" || p["hint"] == "" {
		t.Errorf("%v", p)
	}
	paths := make([]string, 101)
	for i := range paths {
		paths[i] = fmt.Sprintf("root/f%d", i)
	}
	if p := patch(args{"paths": paths}); p["blocked_reason"] != "too_many_paths" || p["hint"] == "" {
		t.Errorf("%v", p)
	}
	for _, path := range []string{"big", "/etc/passwd", "root/../../x", "..", "other/big", "root/.git/config"} {
		if p := patch(args{"paths": []string{path}}); p["blocked_reason"] != "path_outside_workspace" {
			t.Errorf("%s: %v", path, p)
		}
	}
}

// Nothing that a repository brings along is executed: no hook, no filter, no driver.
func TestBoardHooksAndFiltersOfTheRepositoryNeverRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	trap := filepath.Join(d.home, "trapped")
	script := "#!/bin/sh\necho \"$0 $*\" >>" + trap + "\ncat\n"
	for _, hook := range strings.Fields("post-checkout pre-commit post-commit post-index-change reference-transaction fsmonitor-watchman post-rewrite") {
		write(t, filepath.Join(d.root, ".git", "hooks", hook), script)
		if err := os.Chmod(filepath.Join(d.root, ".git", "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	driver := filepath.Join(d.root, ".git", "driver")
	write(t, driver, script)
	if err := os.Chmod(driver, 0o755); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"filter.evil.clean": driver, "filter.evil.smudge": driver, "filter.evil.process": driver, "diff.evil.command": driver, "diff.evil.textconv": driver,
		"core.fsmonitor": driver, "core.hooksPath": filepath.Join(d.root, ".git", "hooks"), "core.pager": driver, "diff.external": driver, "core.sshCommand": driver,
	} {
		d.git(".", "config", key, value)
	}
	write(t, filepath.Join(d.root, ".gitattributes"), "* filter=evil diff=evil\n")
	a := d.attempt("echo changed >>main.go; echo new >new.txt; echo '* filter=evil' >docs/.gitattributes")
	if s := d.status(a.id); field(t, s, "state") != "completed" {
		t.Fatalf("%s", s)
	}
	d.changes(a.id, nil)
	d.must("get_attempt_patch", args{"attempt_id": a.id, "paths": []string{"root/."}})
	d.must("get_attempt_file", args{"attempt_id": a.id, "path": "root/main.go"})
	d.must("delete_task", args{"task_id": a.task})
	if raw, err := os.ReadFile(trap); err == nil {
		t.Errorf("the repository ran\n%s", raw)
	}
}
