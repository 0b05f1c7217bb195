package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

var testEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

func sh(script string) Spec {
	return Spec{Name: "sh", Args: []string{"-c", script}, Env: testEnv, Timeout: 20 * time.Second}
}

func run(t *testing.T, s Spec) Result {
	t.Helper()
	r, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gone fails unless the process ends soon: it does not exist, or is a zombie of
// somebody else.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) == syscall.ESRCH || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond) // no event tells of the end of a process that is not our child
	}
	t.Errorf("process %d lives", pid)
}

func TestResultIsWhatTheProcessDid(t *testing.T) {
	dir := t.TempDir()
	s := sh(`cat; pwd; echo oops >&2; echo "$A:$HOME"; exit 3`)
	s.Dir, s.Stdin, s.Env = dir, []byte("in\n"), append([]string{"A=b"}, testEnv...)
	r := run(t, s)
	if want := "in\n" + dir + "\nb:\n"; string(r.Stdout) != want || string(r.Stderr) != "oops\n" {
		t.Errorf("output %q, %q", r.Stdout, r.Stderr)
	}
	if r.Exit != 3 || r.Signal != "" || r.OK() || r.Duration <= 0 {
		t.Errorf("%+v", r)
	}
	if err := r.Err("sh"); !fault.Is(err, fault.ProcessFailed) || !strings.HasSuffix(err.Error(), "sh exited with code 3") {
		t.Error(err)
	}
	if err := run(t, sh("true")).Err("sh"); err != nil {
		t.Error(err)
	}
	r = run(t, sh("kill -9 $$"))
	if r.Exit != -1 || r.Signal != "SIGKILL" || r.OK() || !fault.Is(r.Err("sh"), fault.ProcessFailed) {
		t.Errorf("%+v", r)
	}
}

func TestNothingIsInheritedInSilence(t *testing.T) {
	t.Setenv("LEAK", "1")
	if r := run(t, Spec{Name: "/usr/bin/env"}); len(r.Stdout) > 0 {
		t.Errorf("environment %q", r.Stdout)
	}
	if r := run(t, sh("wc -c; readlink /proc/$$/fd/0")); string(r.Stdout) != "0\n/dev/null\n" {
		t.Errorf("standard input: %q", r.Stdout)
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range []Spec{
		{Name: "nosuchtool", Env: testEnv}, {Name: "sh"}, {Name: ""}, {Name: dir + "/nosuchtool"}, {Name: script},
		{Name: "script", Env: []string{"PATH=.::"}, Dir: dir},
	} {
		_, err := Run(t.Context(), s)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.ToolchainMissing {
			t.Errorf("%q: %v", s.Name, err)
			continue
		}
		if !strings.Contains(f.Hint, filepath.Base(s.Name)) || strings.Contains(f.Error()+f.Hint, dir) {
			t.Errorf("%q: %v; %s", s.Name, f, f.Hint)
		}
	}
	if _, err := Run(t.Context(), Spec{Name: "sh", Env: testEnv, Dir: dir + "/none"}); err == nil || fault.Is(err, fault.ToolchainMissing) {
		t.Errorf("a missing working directory: %v", err)
	}
}

func TestARelativePathIsRelativeToDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/pwd", filepath.Join(dir, "where")); err != nil {
		t.Fatal(err)
	}
	if r := run(t, Spec{Name: "./where", Dir: dir}); string(r.Stdout) != dir+"\n" {
		t.Errorf("%q", r.Stdout)
	}
}

func TestHugeOutputIsBoundedAndReadToItsEnd(t *testing.T) {
	s := sh(`head -c 30000000 /dev/zero; head -c 101 /dev/zero >&2; echo end >&2`)
	s.MaxOutput = 100
	r := run(t, s)
	if len(r.Stdout) != 100 || !r.StdoutTruncated || len(r.Stderr) != 100 || !r.StderrTruncated || !r.OK() {
		t.Errorf("%d %v, %d %v, exit %d", len(r.Stdout), r.StdoutTruncated, len(r.Stderr), r.StderrTruncated, r.Exit)
	}
	s = sh(`head -c 100 /dev/zero`)
	s.MaxOutput = 100
	if r := run(t, s); r.StdoutTruncated || len(r.Stdout) != 100 {
		t.Errorf("exactly the bound: %d %v", len(r.Stdout), r.StdoutTruncated)
	}
}

// slowWriter takes its time, so that the process is over before it is read.
type slowWriter struct {
	bytes.Buffer
	ended func()
}

func (w *slowWriter) Write(b []byte) (int, error) {
	w.ended()
	return w.Buffer.Write(b)
}

func TestStreamingIsNeitherKeptNorCut(t *testing.T) {
	var out bytes.Buffer
	s := sh(`head -c 1000000 /dev/zero`)
	s.Stdout, s.MaxOutput = &out, 10
	if r := run(t, s); out.Len() != 1000000 || len(r.Stdout) != 0 || r.StdoutTruncated {
		t.Errorf("%d streamed, %d kept", out.Len(), len(r.Stdout))
	}
	reader, writer := io.Pipe()
	reader.CloseWithError(io.ErrUnexpectedEOF)
	s.Stdout = writer
	if _, err := Run(t.Context(), s); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a failing writer: %v", err)
	}
}

func TestOutputLeftInThePipeIsReadAfterTheEnd(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	s := sh(`echo $$ >` + pidFile + `; head -c 60000 /dev/zero`)
	w := &slowWriter{ended: func() {
		pid, _ := os.ReadFile(pidFile)
		n, _ := strconv.Atoi(strings.TrimSpace(string(pid)))
		gone(t, n)
	}}
	s.Stdout = w
	if run(t, s); w.Len() != 60000 {
		t.Errorf("%d bytes", w.Len())
	}
}

func TestDescendantsDoNotOutliveTheProgram(t *testing.T) {
	r := run(t, sh(`sleep 1000 & echo $!`))
	pid, err := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
	if r.Duration > 10*time.Second {
		t.Errorf("it took %v", r.Duration)
	}
}

func TestAnEscapedDescendantThatHoldsTheOutputDoesNotHoldUs(t *testing.T) {
	if _, err := LookPath("setsid", testEnv); err != nil {
		t.Skip("setsid is not installed")
	}
	for _, script := range []string{`setsid sh -c 'echo $$; exec sleep 1000' &`, `setsid sh -c 'echo $$; exec yes' & `} {
		r := run(t, sh(script+` sleep 0.2; true`))
		line, _, _ := strings.Cut(string(r.Stdout), "\n")
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatalf("%q", r.Stdout)
		}
		syscall.Kill(pid, syscall.SIGKILL)
		if !r.OK() || r.Duration > 10*time.Second {
			t.Errorf("%s: exit %d after %v", script, r.Exit, r.Duration)
		}
	}
}

func TestCancelStopsTheGroup(t *testing.T) {
	for name, c := range map[string]struct{ script, signal string }{
		"obedient":          {`sleep 1000 & echo $!; wait`, "SIGTERM"},
		"ignores TERM":      {`trap "" TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done'`, "SIGKILL"},
		"closes its output": {`sleep 1000 & echo $!; exec >&- 2>&-; wait`, "SIGTERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			out := &slowWriter{ended: cancel}
			s := sh(c.script)
			s.Stdout, s.Grace, s.Timeout = out, 100*time.Millisecond, 0
			r, err := Run(ctx, s)
			if !errors.Is(err, context.Canceled) || r.Signal != c.signal {
				t.Errorf("%v, %+v", err, r)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
			if err != nil {
				t.Fatal(err)
			}
			gone(t, pid)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Spec{Name: "nosuchtool"}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended before the start: %v", err)
	}
}

func TestTimeoutKeepsWhatWasThere(t *testing.T) {
	s := sh(`echo here; sleep 1000`)
	s.Timeout = 200 * time.Millisecond
	r, err := Run(t.Context(), s)
	if !errors.Is(err, context.DeadlineExceeded) || string(r.Stdout) != "here\n" || r.Signal != "SIGTERM" {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestNoZombiesAndNoOpenFilesRemain(t *testing.T) {
	count := func() int {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc")
		}
		return len(fds)
	}
	run(t, sh("true"))
	before := count()
	for range 20 {
		s := sh("exit 1")
		s.Stdin = bytes.Repeat([]byte("x"), 1<<20)
		run(t, s)
		Run(t.Context(), Spec{Name: "nosuchtool"})
	}
	if after := count(); after > before {
		t.Errorf("%d open files, were %d", after, before)
	}
	children, err := os.ReadFile("/proc/thread-self/children")
	if err == nil && len(children) > 0 {
		t.Errorf("children left: %s", children)
	}
}

func TestDetachedHasItsOwnSessionAndLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	s := sh(`echo "$0"; cat; kill -STOP $$; echo end`)
	s.Args = append(s.Args, "name")
	pid, err := StartDetached(s, log)
	if err != nil {
		t.Fatal(err)
	}
	for { // until it has stopped itself
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			t.Skip("no /proc")
		}
		if fields := strings.Fields(string(stat)); fields[2] == "T" {
			if fields[5] != strconv.Itoa(pid) {
				t.Errorf("session %s, want %d", fields[5], pid)
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGCONT)
	gone(t, pid)
	if got, _ := os.ReadFile(log); string(got) != "name\nend\n" {
		t.Errorf("log %q", got)
	}
	if _, err := StartDetached(Spec{Name: "nosuchtool"}, ""); !fault.Is(err, fault.ToolchainMissing) {
		t.Errorf("missing: %v", err)
	}
	if pid, err := StartDetached(sh("true"), ""); err != nil {
		t.Error(err)
	} else {
		gone(t, pid)
	}
}

func BenchmarkRunTrue(b *testing.B) {
	for b.Loop() {
		if _, err := Run(b.Context(), Spec{Name: "/bin/true"}); err != nil {
			b.Fatal(err)
		}
	}
}
