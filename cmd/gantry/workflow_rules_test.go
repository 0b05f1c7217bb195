package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// What a command leaves is looked at before anything of it becomes the run's.
func TestACommandGivesWhatItsNodeDeclaresAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newFlow(t)
	w.env = append(w.env, "MY_API_TOKEN=hunter2hunter2")
	cases := []struct{ script, more, code, says string }{
		{"echo 1 > artifacts/out.json; env > artifacts/env.txt", "outputs: [out.json, env.txt]", "", ""},
		{"echo 1 > artifacts/out.json; echo 2 > reports/more.md", "outputs: [out.json]", "ALLOWED_PATHS_VIOLATION", "reports/more.md"},
		{"echo 1 >> run_config.yaml", "", "ALLOWED_PATHS_VIOLATION", "run_config.yaml"},
		{"ln -s /etc/passwd artifacts/out.txt", "outputs: [out.txt]", "INVALID_INPUT", "out.txt"},
		{"true", "outputs: [out.json]", "ARTIFACT_NOT_FOUND", "out.json"},
		{"echo { > artifacts/out.json", "outputs: [out.json]", "SCHEMA_VALIDATION_FAILED", "out.json"},
		{"echo {} > artifacts/page_plan.json", "outputs: [page_plan.json]", "SCHEMA_VALIDATION_FAILED", "page_plan.json"},
		{"echo it broke >&2; exit 3", "", "PROCESS_FAILED", "it broke"},
		{"kill -9 $$", "", "PROCESS_FAILED", "SIGKILL"},
		{"tail -f /dev/null", "timeout_s: 1", "NODE_TIMEOUT", "only"},
		{"true", "inputs: [nothing.json]", "ARTIFACT_NOT_FOUND", "nothing.json"},
		{"true", "exit: READY_FOR_PR", "ILLEGAL_STATE", "READY_FOR_PR"},
	}
	p := w.serve(stateless)
	ids := make([]string, len(cases))
	for i, c := range cases {
		if c.more != "" {
			c.more = ", " + c.more
		}
		name := fmt.Sprintf("flow/case%d.yaml", i)
		write(t, filepath.Join(w.root, name), fmt.Sprintf("name: one\nnodes:\n  - {name: only, worker: {command: [sh, -c, %q]}%s}\n", c.script, c.more))
		if code, _, said := w.gantry("allow", "--workflow", filepath.Join(w.root, name)); code != 0 {
			t.Fatalf("%s: %s", name, said)
		}
		ids[i] = p.start(args{"github_repo_url": "noted", "workflow": name})
	}
	for i, c := range cases {
		v := w.rest(ids[i])
		if c.code == "" {
			if v.State != runs.StateDone {
				t.Errorf("%q ends in %s: %+v", c.script, v.State, v.Failure)
			}
			continue
		}
		if v.State != runs.StateFailed || v.Failure.Code != c.code || !strings.Contains(v.Failure.Message+string(v.Failure.Details), c.says) {
			t.Errorf("%q ends in %s: %+v, want %s about %s", c.script, v.State, v.Failure, c.code, c.says)
		}
		if len(v.Artifacts) > 0 {
			t.Errorf("%q: something was kept: %v", c.script, v.Artifacts)
		}
	}
	env := w.artifact(ids[0], "env.txt")
	if strings.Contains(env, "hunter2") || !strings.Contains(env, "GANTRY_RUN_ID="+ids[0]) || !strings.Contains(env, "GANTRY_NODE=only") {
		t.Errorf("the command's environment is %s", env)
	}
}
