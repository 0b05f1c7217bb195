package agenttest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/agenttest"
)

func TestMain(m *testing.M) {
	agenttest.Main()
	os.Exit(m.Run())
}

func TestTheAgentDoesWhatThePromptOrders(t *testing.T) {
	t.Parallel()
	bin, dir := agenttest.Install(t), t.TempDir()
	for name, want := range map[string][]string{
		"claude":      {`"subtype":"init"`, `"session_id":"abc"`, `"text":"hello"`, `"name":"Bash"`, `"is_error":true`, `"result":"hello"`},
		"plain-agent": {"hello\n", "$ cat a.txt; exit 3\nit's\n"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), "--resume", "abc")
		cmd.Dir, cmd.Stdin = filepath.Join(dir), strings.NewReader("say: hello\nwrite: a.txt it's\nrun: cat a.txt; exit 3\nnothing\n")
		out, err := cmd.Output()
		for _, part := range want {
			if !strings.Contains(string(out), part) || err != nil {
				t.Errorf("%s: no %s in %s, %v", name, part, out, err)
			}
		}
		cmd = exec.CommandContext(t.Context(), filepath.Join(bin, name), "fail: no luck")
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
