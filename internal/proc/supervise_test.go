package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc/proctest"
)

func TestAProcessIsSeenFromItsStartToItsEnd(t *testing.T) {
	s := supervisor(t)
	dir := t.TempDir()
	spec := script(`pwd; readlink /proc/$$/fd/0; echo "$TRACEPARENT"; echo err >&2; read go <` + dir + `/go; exit 3`)
	spec.Dir, spec.Env = dir, append(spec.Env, "TRACEPARENT=00-x")
	if err := syscall.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := ensure(t, s, "a/b", spec)
	if st.State != Running || st.PID <= 0 || st.Exit != -1 || st.Key != "a/b" || st.Started.IsZero() || !st.Ended.IsZero() {
		t.Fatalf("%+v", st)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	end := ended(t, s, "a/b")
	if end.State != Exited || end.Exit != 3 || end.Signal != "" || end.PID != st.PID || end.Ended.Before(end.Started) || end.Stopped != "" {
		t.Errorf("%+v", end)
	}
	out, err := s.Tail("a/b", 0, 0)
	if want := dir + "\n/dev/null\n00-x\nerr\n"; err != nil || string(out.Data) != want {
		t.Errorf("%q, %v", out.Data, err)
	}
	if _, err := s.Status("none"); !errors.Is(err, ErrNoProcess) {
		t.Error(err)
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Key != "a/b" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAKeyIsStartedOnce(t *testing.T) {
	s, dir := supervisor(t), t.TempDir()
	spec := script(`echo $$ >>` + dir + `/started; sleep 1000`)
	var group sync.WaitGroup
	pids := make([]int, 8)
	for i := range pids {
		other := supervisorAt(t, s.dir)
		group.Go(func() { pids[i] = ensure(t, other, "once", spec).PID })
	}
	group.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 {
			t.Errorf("pids %v", pids)
		}
	}
	if n := written(t, filepath.Join(dir, "started")); n != pids[0] {
		t.Errorf("started as %d", n)
	}
	if _, err := s.Stop(t.Context(), "once", time.Second); err != nil {
		t.Fatal(err)
	}
	if st := ensure(t, s, "once", spec); st.State != Exited || st.Signal != "SIGTERM" {
		t.Errorf("after its end: %+v", st)
	}
}

func TestTheStateIsHowItEnded(t *testing.T) {
	s := supervisor(t)
	for key, c := range map[string]struct {
		script, signal string
		exit           int
	}{
		"zero":          {"true", "", 0},
		"code":          {"exit 7", "", 7},
		"signal":        {"kill -SEGV $$", "SIGSEGV", -1},
		"closes output": {"exec >&- 2>&-; exit 4", "", 4},
		"daemonises":    {"setsid sh -c 'sleep 1000 & exec sleep 1000' & exit 5", "", 5},
	} {
		ensure(t, s, key, script(c.script))
		st := ended(t, s, key)
		if st.State != Exited || st.Exit != c.exit || st.Signal != c.signal || st.Stopped != "" {
			t.Errorf("%s: %+v", key, st)
		}
	}
	st := ensure(t, s, "outside", script("sleep 1000"))
	syscall.Kill(st.PID, syscall.SIGKILL)
	if st := ended(t, s, "outside"); st.State != Exited || st.Signal != "SIGKILL" || st.Stopped != "" {
		t.Errorf("killed from outside: %+v", st)
	}
}

func TestWhatCannotBeStartedRanNothingAndIsTriedAgain(t *testing.T) {
	s, dir := supervisor(t), t.TempDir()
	spec := ProcSpec{Name: "./tool", Dir: dir, Env: testEnv}
	if _, err := s.Ensure(t.Context(), "k", spec); !fault.Is(err, fault.ToolchainMissing) {
		t.Fatal(err)
	}
	if _, err := s.Status("k"); !errors.Is(err, ErrNoProcess) {
		t.Error(err)
	}
	tool := filepath.Join(dir, "tool")
	if err := os.WriteFile(tool, []byte("\x7fELF nonsense"), 0o700); err != nil {
		t.Fatal(err)
	}
	st, err := s.Ensure(t.Context(), "k", spec)
	if !fault.Is(err, fault.ProcessFailed) || st.State != Failed || strings.Contains(err.Error(), dir) {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := os.WriteFile(tool, []byte("#!/bin/sh\nexit 9\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ensure(t, s, "k", spec)
	if st := ended(t, s, "k"); st.Exit != 9 || st.State != Exited {
		t.Errorf("%+v", st)
	}
	for name, bad := range map[string]ProcSpec{
		"folder": {Name: "sh", Dir: dir + "/none", Env: testEnv}, "NUL": {Name: "sh", Args: []string{"a\x00b"}, Env: testEnv},
		"sandbox": {Name: "sh", Sandbox: "jail", Env: testEnv},
	} {
		if _, err := s.Ensure(t.Context(), name, bad); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, key := range []string{"", strings.Repeat("k", 201)} {
		if _, err := s.Ensure(t.Context(), key, script("true")); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("key %.5q: %v", key, err)
		}
	}
}

func TestAFailedStartOfTheLastStageIsNoPath(t *testing.T) {
	s := supervisor(t)
	if _, err := s.Ensure(t.Context(), "big", ProcSpec{Name: "sh", Args: []string{strings.Repeat("x", 1<<20)}, Env: testEnv}); err == nil ||
		!fault.Is(err, fault.ProcessFailed) {
		t.Error(err)
	}
}

func TestKeysNeverLeaveTheFolder(t *testing.T) {
	s := supervisor(t)
	seen := map[string]string{}
	for _, key := range []string{"..", ".", "../x", "/etc", "a/b", "a%2Fb", ".owners", "a b", "a\x00b", "ü", "A"} {
		dir, err := s.folder(key)
		if err != nil || filepath.Dir(dir) != s.dir || strings.HasPrefix(filepath.Base(dir), ".") || seen[dir] != "" {
			t.Errorf("%q: %q, %v; the same as %q", key, dir, err, seen[dir])
		}
		seen[dir] = key
	}
}

func TestStopEndsTheWholeTree(t *testing.T) {
	for name, c := range map[string]struct{ script, stopped string }{
		"obeys":           {`echo $$ >$F; exec sleep 1000`, Graceful},
		"ignores TERM":    {`trap "" TERM; echo $$ >$F; while :; do sleep 1000; done`, Killed},
		"stopped itself":  {`echo $$ >$F; kill -STOP $$`, Graceful},
		"setsid":          {`setsid sh -c 'echo $$ >$F; sleep 1000' & wait`, Graceful},
		"double fork":     {`(setsid sh -c '(trap "" TERM; echo $$ >$F; sleep 1000; :) &' &); exec sleep 1000`, Graceful},
		"other session":   {`setsid setsid sh -c 'trap "" TERM HUP; (echo $$ >$F; while :; do sleep 1000; done)' & exec sleep 1000`, Graceful},
		"background left": {`(trap "" TERM; echo $$ >$F; while :; do sleep 1000; done) & exec sleep 1000`, Graceful},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, file := supervisor(t), filepath.Join(t.TempDir(), "pid")
			spec := script(c.script)
			spec.Env = append([]string{"F=" + file}, spec.Env...)
			ensure(t, s, "k", spec)
			written(t, file)
			dir, _ := s.folder("k")
			r, _ := readRecord(dir)
			st, err := s.Stop(t.Context(), "k", 200*time.Millisecond)
			if err != nil || st.State != Exited || st.Stopped != c.stopped || st.StoppedBy != ByRequest {
				t.Errorf("%+v, %v", st, err)
			}
			if left := proctest.Marked(tokenVariable + "=" + r.Token); len(left) > 0 {
				t.Errorf("%v live", left)
			}
			if again, err := s.Stop(t.Context(), "k", time.Second); err != nil || again.Stopped != st.Stopped {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

func TestTheShorterGraceCountsFromAnyProcess(t *testing.T) {
	s, file := supervisor(t), filepath.Join(t.TempDir(), "pid")
	ensure(t, s, "k", script(`trap "" TERM; echo $$ >`+file+`; while :; do sleep 1000; done`))
	written(t, file)
	first := make(chan Status)
	go func() {
		st, _ := s.Stop(context.Background(), "k", time.Hour)
		first <- st
	}()
	other := supervisorAt(t, s.dir)
	began := time.Now()
	if st, err := other.Stop(t.Context(), "k", 10*time.Millisecond); err != nil || st.Signal != "SIGKILL" || st.Stopped != Killed {
		t.Errorf("%+v, %v", st, err)
	}
	if st := <-first; st.Signal != "SIGKILL" || time.Since(began) > 5*time.Second {
		t.Errorf("%+v after %v", st, time.Since(began))
	}
	if _, err := s.Stop(t.Context(), "none", 0); !errors.Is(err, ErrNoProcess) {
		t.Error(err)
	}
}

func TestATimeoutStops(t *testing.T) {
	s := supervisor(t)
	spec := script("sleep 1000")
	spec.Timeout = 50 * time.Millisecond
	ensure(t, s, "k", spec)
	if st := ended(t, s, "k"); st.Signal != "SIGTERM" || st.StoppedBy != ByTimeout || st.Stopped != Graceful {
		t.Errorf("%+v", st)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	s := supervisor(t)
	ensure(t, s, "k", script("sleep 1000"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if st, err := s.Wait(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) || st.State != Running {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestAProgramInheritsNoSignalsThatAreIgnored(t *testing.T) {
	s := supervisor(t)
	ensure(t, s, "k", ProcSpec{Name: "grep", Args: []string{"SigIgn\\|SigBlk", "/proc/self/status"}, Env: testEnv})
	ended(t, s, "k")
	out, err := s.Tail("k", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const libc = 3 << 31 // signals 32 and 33 are the C library's: what make starts ignores one of them
	fields := strings.Fields(string(out.Data))
	for i := 1; i < len(fields); i += 2 {
		mask, err := strconv.ParseUint(fields[i], 16, 64)
		if err != nil || mask&^libc != 0 {
			t.Errorf("%q, %v", out.Data, err)
		}
	}
	if len(fields) != 4 {
		t.Errorf("%q", out.Data)
	}
}

func TestNoDescriptorsAreInherited(t *testing.T) {
	s := supervisor(t)
	leak, err := syscall.Dup(1) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	ensure(t, s, "k", script("ls -l /proc/self/fd | wc -l; ls -l /proc/self/fd"))
	ended(t, s, "k")
	if out, _ := s.Tail("k", 0, 0); !strings.HasPrefix(string(out.Data), "5\n") { // 0, 1, 2 and the folder that is listed
		t.Errorf("%s", out.Data)
	}
}

func TestCollectForgetsTheOldestThatEnded(t *testing.T) {
	s := supervisor(t)
	for i := range 4 {
		ensure(t, s, "k"+strconv.Itoa(i), script("true"))
		ended(t, s, "k"+strconv.Itoa(i))
	}
	ensure(t, s, "runs", script("sleep 1000"))
	ensure(t, s, "other", script("true"))
	ended(t, s, "other")
	mine := func(key string) bool { return key != "other" }
	removed, err := s.Collect(mine, 2, time.Hour, time.Now())
	if err != nil || strings.Join(removed, " ") != "k0 k1" {
		t.Errorf("%v, %v", removed, err)
	}
	removed, err = s.Collect(mine, 2, time.Hour, time.Now().Add(2*time.Hour))
	if err != nil || strings.Join(removed, " ") != "k2 k3" {
		t.Errorf("%v, %v", removed, err)
	}
	if list, err := s.List(); err != nil || len(list) != 2 || list[0].Key != "runs" || list[1].Key != "other" {
		t.Errorf("%v, %v", list, err)
	}
	for _, key := range []string{"other", "runs", "nothing"} {
		if err := s.Remove(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Key != "runs" {
		t.Errorf("%v, %v", list, err)
	}
	if st := ensure(t, s, "k0", script("exit 1")); st.Key != "k0" {
		t.Errorf("%+v", st)
	}
	ended(t, s, "k0")
}

func TestBaseEnvHoldsNoSecrets(t *testing.T) {
	got := BaseEnv([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "LC_ALL=C", "XDG_CACHE_HOME=/c", "HOME=/h", "HOME=/h2", "TRACEPARENT=t",
		"LD_PRELOAD=x", "PATHX=1", "odd", "GITHUB_TOKEN=x"})
	if want := "HOME=/h2 LC_ALL=C PATH=/bin TRACEPARENT=t XDG_CACHE_HOME=/c"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}
