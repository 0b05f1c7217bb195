package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// A launch is led to its pull request by the MCP Inspector's command line, a client
// that shares no code with us. Each of its calls is a server of its own, so what one
// has started the next one finds.
func TestTheInspectorLeadsALaunchToItsPullRequest(t *testing.T) {
	inspector, err := exec.LookPath("mcp-inspector")
	if err != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("mcp-inspector is not in PATH; .ci/run installs it")
		}
		t.Skip("the MCP Inspector is not installed: npm i -g @modelcontextprotocol/inspector, with Node 22 or newer")
	}
	w := newWorld(t)
	ask := func(into any, words ...string) {
		t.Helper()
		args := append([]string{"--cli", binary, "mcp", "--state-dir=" + w.state, "--root=" + w.root, "--method"}, words...)
		cmd := exec.CommandContext(t.Context(), inspector, args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, into)
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
	}
	call := func(into any, tool string, args ...string) {
		t.Helper()
		words := []string{"tools/call", "--tool-name", tool}
		for _, a := range args {
			words = append(words, "--tool-arg", a)
		}
		result := struct {
			Structured any `json:"structuredContent"`
		}{into}
		ask(&result, words...)
	}

	var list struct {
		Tools []struct{ Name string }
	}
	if ask(&list, "tools/list"); len(list.Tools) != toolsOf(t, "launch")+toolsOf(t, "worktree") {
		t.Errorf("%d tools", len(list.Tools))
	}
	var run struct {
		ID    string     `json:"run_id"`
		State runs.State `json:"state"`
		URL   string     `json:"pr_url"`
	}
	call(&run, "launch_start_run", `run_config={"github_repo_url":"product","site_repo_url":"site"}`)
	w.rest(run.ID)
	if call(&run, "launch_get_status", "run_id="+run.ID); run.State != runs.StateReadyForPR {
		t.Fatalf("it rests in %s", run.State)
	}
	call(&run, "launch_open_pr", "run_id="+run.ID)
	w.rest(run.ID)
	var read struct {
		Contents []struct{ Text string }
	}
	ask(&read, "resources/read", "--uri", run.URL)
	var pr struct {
		Branch string `json:"branch_name"`
	}
	if err := json.Unmarshal([]byte(read.Contents[0].Text), &pr); err != nil || !strings.HasPrefix(pr.Branch, "launch/") {
		t.Errorf("pr.json: %+v, %v", pr, err)
	}
	if branches := w.git("site", "branch", "--list", pr.Branch); !strings.Contains(branches, pr.Branch) {
		t.Errorf("the site's branches: %s", branches)
	}
	signalWorkers(filepath.Dir(w.root)) // the one that carried the run on
	for deadline := time.Now().Add(patience); len(mentioning(filepath.Dir(w.root))) > 0 && time.Now().Before(deadline); {
		w.gantry("version")
	}
}

func toolsOf(t *testing.T, toolset string) int {
	t.Helper()
	tools, err := specs.Tools(toolset)
	if err != nil {
		t.Fatal(err)
	}
	return len(tools)
}
