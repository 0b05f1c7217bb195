package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What make test runs the tests with has to see what they leave behind, and nothing else.
func TestTidySeesWhatACommandLeavesBehind(t *testing.T) {
	script, err := filepath.Abs("../../.ci/tidy")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ command, left string }{
		{`test -d "$TMPDIR" && mkdir "$TMPDIR/a" && rmdir "$TMPDIR/a"`, ""},
		{`mkdir "$TMPDIR/a"`, "/a"},
		{`mkdir -p "$HOME/.dela" && echo >"$HOME/.dela/allowlist.toml"`, "/.dela/allowlist.toml"},
		{`MARK="$TMPDIR/x" sleep 1000 >/dev/null 2>&1 & echo $! >"$HOME/pid"; until grep -qs MARK /proc/$!/environ; do :; done`, "process "},
	} {
		if _, err := os.Stat("/proc/self/environ"); err != nil && test.left == "process " {
			continue
		}
		home := t.TempDir()
		cmd := exec.Command(script, "sh", "-c", test.command)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		if pid, failed := os.ReadFile(filepath.Join(home, "pid")); failed == nil {
			exec.Command("kill", strings.TrimSpace(string(pid))).Run()
		}
		if test.left == "" && err != nil || !strings.Contains(string(out), test.left) || test.left != "" && err == nil {
			t.Errorf("%s: %v\n%s", test.command, err, out)
		}
	}
}
