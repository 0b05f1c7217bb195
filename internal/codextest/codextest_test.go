package codextest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/codextest"
)

// codex runs the real CLI with a prompt.
func codex(t *testing.T, s *codextest.Server, prompt string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), codextest.Program(t), append([]string{"exec", "--json", "--skip-git-repo-check"}, args...)...)
	cmd.Stdin = strings.NewReader(prompt)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CODEX_HOME=" + filepath.Dir(s.Config)}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("codex: %v\n%s", err, out)
	}
	return string(out)
}

func TestTheCLIDoesWhatThePromptOrders(t *testing.T) {
	t.Parallel()
	s, dir := codextest.New(t), t.TempDir()
	s.Open("gate")
	out := codex(t, s, "think: hm\nwait: gate\nwrite: a.txt it's\nrun: cat a.txt; exit 3\npatch: b.txt new\nsay: finished",
		"-C", dir, "--dangerously-bypass-approvals-and-sandbox", "-")
	for _, part := range []string{`"text":"hm"`, `"aggregated_output":"it's\n","exit_code":3`, `"kind":"add"`, `"text":"finished"`, `"turn.completed"`} {
		if !strings.Contains(out, part) {
			t.Errorf("no %s in %s", part, out)
		}
	}
	for file, want := range map[string]string{"a.txt": "it's\n", "b.txt": "new\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	asked := s.Requests()
	if last := asked[len(asked)-1]; last.Step != 3 || !strings.Contains(last.Outputs[1], "it's") || !slices.Contains(last.Tools, "apply_patch") {
		t.Errorf("%+v", last)
	}
}
