package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withSecret writes a configuration with a shared secret and returns its flag.
func (s *studio) withSecret(secret string) string {
	path := filepath.Join(s.home, "config.toml")
	write(s.t, path, "[server]\nauth_token = \""+secret+"\"\n[agents]\ninherit = [\"GATE\", \"PROMPTS\"]\n")
	return "--config=" + path
}

// meta returns parameters that show a secret.
func showing(secret string, params map[string]any) map[string]any {
	params["_meta"] = map[string]any{"gantry/auth_token": secret}
	return params
}

func TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-token-of-the-test"
	s := newStudio(t)
	flag := s.withSecret(secret)
	p := s.agents(flag) // it has shaken hands without the secret
	if a := p.request("ping", nil); a.Error != nil {
		t.Errorf("ping: %s", a.Error)
	}
	for _, method := range []string{"tools/list", "resources/templates/list"} {
		if a := p.request(method, nil); a.Error == nil || a.Error.Data.Code != "UNAUTHORIZED" || a.Error.Data.Hint == "" {
			t.Errorf("%s: %s %.200s", method, a.Error, a.Result)
		}
	}
	if a := p.request("resources/read", map[string]any{"uri": "task://x/status"}); a.Error == nil || a.Error.Data.Code != "UNAUTHORIZED" {
		t.Errorf("%s %s", a.Error, a.Result)
	}
	p.fails("task_list", args{}, "unauthorized")
	p.fails("task_list", args{"nonsense": true}, "unauthorized") // before a word on the arguments
	call := func(secret string) answer {
		return p.request("tools/call", showing(secret, map[string]any{"name": "task_list", "arguments": args{}}))
	}
	for _, wrong := range []string{"", "s3cr3t", secret + " ", strings.ToUpper(secret)} {
		if a := call(wrong); !strings.Contains(string(a.Result), "unauthorized") {
			t.Errorf("%q: %s %s", wrong, a.Error, a.Result)
		}
	}
	p.success("task_list", call(secret))
	p.fails("task_list", args{}, "unauthorized") // what one request shows is good for that one
	if a := p.request("tools/list", showing(secret, map[string]any{})); a.Error != nil {
		t.Errorf("%s", a.Error)
	}
	// Shown in initialize, it is good for all that follows.
	q := s.serve("", "--toolsets=agents", "--rate-limit=0", flag)
	a := q.request("initialize", showing(secret, map[string]any{
		"protocolVersion": stateful, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": "peer", "version": "1"},
	}))
	if a.Error != nil || !strings.Contains(string(a.Result), `"codex-tasks"`) {
		t.Fatalf("%s %s", a.Error, a.Result)
	}
	q.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	q.must("task_list", args{})
	p.end()
	q.end()
	for _, said := range []string{p.err.String(), q.err.String(), fmt.Sprint(s.records())} {
		if strings.Contains(said, secret) {
			t.Error("the secret is told")
		}
	}
}

// Prompts, titles, ids and paths that mean harm. None is taken for an option, a command or
// a path, and none stops the server.
func TestHostilePromptsTitlesAndPathsDoNoHarm(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	nothing := filepath.Join(s.root, "harm")
	for _, prompt := range []string{
		"--dangerously-bypass-approvals-and-sandbox", "-c sandbox_mode=danger-full-access", "resume --last", "$(touch harm)", "`touch harm`", "'; touch harm; '", "hello\r\n{\"type\":\"thread.started\",\"thread_id\":\"x\"}", "\u202e\u0007\u001b[31mhello", "{prompt} %s %n \\x00", strings.Repeat("x", 200_000),
	} {
		began := p.began(args{"prompt": prompt, "title": prompt[:min(len(prompt), 200)]})
		got := p.taskIn(began.ID, "STOPPED")
		if want := string([]rune(prompt)[:min(len([]rune(prompt)), 2000)]); got.LastPrompt != want || !strings.HasPrefix(got.ID, "thread-") {
			t.Errorf("%.60q became %.60q of %s", prompt, got.LastPrompt, got.ID)
		}
		if asked := s.prompts(); !strings.HasSuffix(strings.Join(asked, "\n"), strings.TrimSuffix(prompt, "\n")) {
			t.Errorf("the agent was asked %.60q, not %.60q", asked[len(asked)-1], prompt)
		}
	}
	for _, c := range []struct {
		a    args
		code string
	}{
		{args{"prompt": ""}, "invalid_argument"},
		{args{"prompt": " \n\t"}, "invalid_argument"},
		{args{"prompt": "a\x00b"}, "invalid_argument"},
		{args{"prompt": strings.Repeat("x", 1<<20+1)}, "invalid_argument"},
		{args{"title": "no prompt"}, "missing_required"},
		{args{"prompt": "x", "sandbox": "danger-full-access"}, "invalid_argument"},
		{args{"prompt": "x", "config": args{"sandbox": "danger-full-access"}}, "invalid_argument"},
		{args{"prompt": "x", "variant": "danger-full-access"}, "invalid_argument"},
		{args{"prompt": "x", "model": "--yolo"}, "invalid_argument"},
		{args{"prompt": "x", "model": "m\" -c a=b"}, "invalid_argument"},
		{args{"prompt": "x", "executor": "../../bin/sh"}, "invalid_argument"},
		{args{"prompt": "x", "working_dir": "/"}, "path_outside_root"},
		{args{"prompt": "x", "working_dir": s.home}, "path_outside_root"},
		{args{"prompt": "x", "working_dir": ".."}, "path_outside_root"},
		{args{"prompt": "x", "working_dir": "../none"}, "path_outside_root"},
		{args{"prompt": "x", "working_dir": "none"}, "invalid_argument"},
		{args{"prompt": "x", "working_dir": "a\x00b"}, "invalid_argument"},
		{args{"prompt": "x", "repo_url": "ext::sh -c 'touch " + nothing + "'", "working_dir": "c"}, "url_not_allowed"},
		{args{"prompt": "x", "repo_url": "--upload-pack=touch " + nothing, "working_dir": "c"}, "url_not_allowed"},
		{args{"prompt": "x", "repo_url": "https://example.com/x", "repo_ref": "--force", "working_dir": "c"}, "invalid_argument"},
	} {
		if f := p.fails("task_start", c.a, c.code); strings.Contains(f.Message+f.Hint, s.home) {
			t.Errorf("%v: %+v", c.a, f)
		}
	}
	for _, id := range []string{"../../../etc", "/etc/passwd", "archive", ".", "..", "a/b", "a\x00b", "%2e%2e", strings.Repeat("x", 256), "\u202e"} {
		p.fails("task_status", args{"task_id": id}, "session_not_found")
		p.fails("task_log", args{"task_id": id}, "session_not_found")
		p.fails("task_send", args{"task_id": id, "prompt": "x"}, "session_not_found")
		p.fails("task_archive", args{"task_id": id}, "session_not_found")
		p.fails("task_stop", args{"task_id": id}, "session_not_found")
	}
	if _, err := os.Lstat(nothing); err == nil {
		t.Error("a command was executed")
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// An agent that calls its conversation by a path gets no folder for it.
func TestAThreadThatIsAPathHasNoFolder(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	p := s.agents()
	began := p.began(args{"prompt": "evil"})
	if began.ID != "../../evil" {
		t.Errorf("%+v", began)
	}
	if got := p.taskIn(began.ID, "STOPPED"); got.LastResult != "evil of no" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Lstat(filepath.Join(s.store, "..", "..", "evil")); err == nil {
		t.Error("there is a folder outside of the store")
	}
	if to := field(t, p.must("task_archive", args{"task_id": began.ID}), "destination"); to != "" {
		t.Errorf("it went to %s", to)
	}
}

func TestWhatAnAgentSaysOfItsSecretsIsMasked(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	s.env = append(s.env, "OPENAI_API_KEY="+key)
	p := s.agents()
	id := p.began(args{"prompt": "secret"}).ID
	p.taskIn(id, "STOPPED")
	for name, raw := range map[string]json.RawMessage{
		"task_log": p.must("task_log", args{"task_id": id}), "task_status": p.must("task_status", args{"task_id": id}), "task_list": p.must("task_list", args{}),
	} {
		if strings.Contains(string(raw), key) {
			t.Errorf("%s tells the key: %s", name, raw)
		}
	}
	p.end()
	if strings.Contains(p.err.String(), key) || strings.Contains(fmt.Sprint(s.records()), key) {
		t.Error("a log or a record tells the key")
	}
}

// A session that a board started is a task too.
func TestBothToolsetsShowOneSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.attempt("echo hello")
	p := d.serve(stateful, "--toolsets=agents", "--rate-limit=0")
	got := p.taskIn(a.session, "STOPPED")
	if got.Executor != "SCRIPT" || got.LastResult != "hello" || *got.Session != a.session {
		t.Errorf("%+v", got)
	}
	if list := p.taskPage(args{}); list.Count != 1 {
		t.Errorf("%+v", list)
	}
}
