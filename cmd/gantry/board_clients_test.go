package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/codextest"
)

// Rules under dependentSchemas are read by clients that share no code with us: the MCP
// Inspector finds nothing to complain about, calls the tools, and shows their failures.
func TestBoardSchemasAreTakenByTheInspector(t *testing.T) {
	inspector, err := exec.LookPath("mcp-inspector")
	if err != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("mcp-inspector is not in PATH; .ci/run installs it")
		}
		t.Skip("the MCP Inspector is not installed: npm i -g @modelcontextprotocol/inspector, with Node 22 or newer")
	}
	t.Parallel()
	d := newDesk(t)
	ask := func(words ...string) (out []byte, failed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), inspector, append([]string{
			"--cli", binary, "mcp", "--toolsets=board", "--state-dir=" + d.state, "--root=" + d.root, "--method"}, words...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home}
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if strings.Contains(said.String(), "strict") {
			t.Errorf("%v: %s", words, said.String())
		}
		return out, err != nil
	}
	out, failed := ask("tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(out, &list); failed || err != nil || len(list.Tools) != 19 {
		t.Fatalf("%v, %d tools: %.2000s", err, len(list.Tools), out)
	}
	if out, failed := ask("tools/call", "--tool-name", "list_repos", "--tool-arg", "project_id="+d.project); failed || !strings.Contains(string(out), d.repo) {
		t.Errorf("%s", out)
	}
	if out, _ := ask("tools/call", "--tool-name", "follow_up", "--tool-arg", "action=send"); !strings.Contains(string(out), "missing_required") {
		t.Errorf("%s", out)
	}
}

// The real Codex, as an agent of the board that has the board's tools, offers all of them to
// its model: none of the schemas makes it drop a tool. Newer models search for tools, so that
// theirs are not all in the request.
func TestBoardSchemasAreTakenByTheRealCodex(t *testing.T) {
	t.Parallel()
	codextest.Program(t)
	d := newBareDesk(t)
	model := d.withCodex()
	f, err := os.OpenFile(model.Config, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "\n[mcp_servers.gantry]\ncommand = %q\nargs = [\"mcp\", \"--toolsets=board\", \"--state-dir\", %q]\nstartup_timeout_sec = 60\nrequired = true\n", binary, d.state)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	d.flags = append(d.flags, "--agents-full-access")
	d.reopen()
	raw := d.must("start_task_attempt", args{
		"task_id": d.task("look around"), "executor": "CODEX", "model": "gpt-5", "prompt": "say: seen", "repos": []args{{"repo_id": d.repo, "target_branch": "main"}},
	})
	id := field(t, raw, "attempt_id")
	if s := d.settled(id); field(t, s, "state") != "completed" {
		t.Fatalf("%s: %+v", s, d.log(id, nil))
	}
	offered := model.Requests()[0].Tools
	for _, tool := range d.tools() {
		if !slices.Contains(offered, "mcp__gantry__"+tool.Name) {
			t.Errorf("%s is not offered to the model, which has %s", tool.Name, offered)
		}
	}
}
