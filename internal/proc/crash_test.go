package proc

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc/proctest"
)

func TestWithoutKeepAProcessEndsWithItsServer(t *testing.T) {
	s, file := supervisor(t), filepath.Join(t.TempDir(), "pid")
	kill, st := server(t, s.dir, "k", script(`trap "" TERM; setsid sh -c '(trap "" TERM; echo $$ >`+file+`; while :; do sleep 1000; done) &' & while :; do sleep 1000; done`))
	written(t, file)
	dir, _ := s.folder("k")
	r, _ := readRecord(dir)
	began := time.Now()
	kill()
	end := ended(t, s, "k")
	// The shim's own clock: when we hear of it is a matter of how busy the machine is.
	if took := end.Ended.Sub(began); took > 2*time.Second || end.PID != st.PID || end.Signal != "SIGKILL" || end.StoppedBy != ByOwner || end.Stopped != Killed {
		t.Errorf("%+v after %v", end, took)
	}
	if left := proctest.Marked(tokenVariable + "=" + r.Token); len(left) > 0 {
		t.Errorf("%v live", left)
	}
}

func TestCloseStopsWhatDoesNotKeep(t *testing.T) {
	s := supervisor(t)
	keeps := script("sleep 1000")
	keeps.Keep = true
	ensure(t, s, "ends", script("sleep 1000"))
	ensure(t, s, "keeps", keeps)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if st := ended(t, s, "ends"); st.Signal != "SIGTERM" || st.StoppedBy != ByOwner {
		t.Errorf("%+v", st)
	}
	if st, err := s.Status("keeps"); err != nil || st.State != Running {
		t.Errorf("%+v, %v", st, err)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, ownersFolder)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestWithKeepAProcessOutlivesItsServer(t *testing.T) {
	s, file := supervisor(t), filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	spec := script("echo before; read x <" + file + "; echo after; exit 6")
	spec.Keep = true
	kill, st := server(t, s.dir, "k", spec)
	kill()
	all, err := s.Reconcile(t.Context())
	if err != nil || len(all) != 1 || all[0].State != Running || all[0].PID != st.PID {
		t.Fatalf("%+v, %v", all, err)
	}
	if again := ensure(t, s, "k", spec); again.PID != st.PID {
		t.Errorf("started again: %+v", again)
	}
	if err := os.WriteFile(file, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, s, "k"); end.Exit != 6 || end.State != Exited {
		t.Errorf("%+v", end)
	}
	if out, err := s.Tail("k", 0, 0); err != nil || string(out.Data) != "before\nafter\n" {
		t.Errorf("%q, %v", out.Data, err)
	}
	if all, err := s.Reconcile(t.Context()); err != nil || len(all) != 1 || all[0].Exit != 6 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAnOrphanIsAdopted(t *testing.T) {
	s, file := supervisor(t), filepath.Join(t.TempDir(), "go")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	spec := script("echo before; read x <" + file + "; echo after; echo $$ >" + file + ".wrote; head -c 300000 /dev/zero; exit 6")
	spec.Keep = true
	st := ensure(t, s, "k", spec)
	until(t, "no output", func() bool { out, _ := s.Tail("k", 0, 0); return len(out.Data) > 0 })
	killShim(t, s, "k")
	if seen, err := s.Status("k"); err != nil || seen.State != Orphan || seen.PID != st.PID {
		t.Fatalf("%+v, %v", seen, err)
	}
	if err := os.WriteFile(file, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	written(t, file+".wrote") // without a shim, and it is not killed for it
	all, err := s.Reconcile(t.Context())
	if err != nil || len(all) != 1 || all[0].State != Orphan && all[0].State != Lost || all[0].PID != st.PID {
		t.Fatalf("%+v, %v", all, err)
	}
	if again := ensure(t, s, "k", spec); again.PID != st.PID || again.State != Orphan && again.State != Lost {
		t.Errorf("%+v", again)
	}
	if end := ended(t, s, "k"); end.State != Lost || end.Exit != -1 || end.Reason == "" {
		t.Errorf("%+v", end)
	}
	shimsGone(t, s.dir)
	out, err := s.ReadFrom("k", 0, 1<<20)
	if want := "before\nafter\n"; err != nil || len(out.Data) != 300000+len(want) || !strings.HasPrefix(string(out.Data), want) {
		t.Errorf("%d bytes, %v", len(out.Data), err)
	}
	if st := ensure(t, s, "k", spec); st.State != Lost {
		t.Errorf("a lost process is started again: %+v", st)
	}
}

func TestAnOrphanIsStoppedWithAllThatEscaped(t *testing.T) {
	s, file := supervisor(t), filepath.Join(t.TempDir(), "pid")
	spec := script(`setsid sh -c '(trap "" TERM; echo $$ >` + file + `; while :; do sleep 1000; done) &' & exec sleep 1000`)
	spec.Keep = true
	ensure(t, s, "k", spec)
	written(t, file)
	dir, _ := s.folder("k")
	r, _ := readRecord(dir)
	killShim(t, s, "k")
	st, err := s.Stop(t.Context(), "k", 100*time.Millisecond)
	if err != nil || st.State != Lost || st.Stopped != Graceful || st.StoppedBy != ByRequest || st.Swept == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if left := proctest.Marked(tokenVariable + "=" + r.Token); len(left) > 0 {
		t.Errorf("%v live", left)
	}
}

func TestAnOrphanOfADeadServerIsStoppedWhenItIsFound(t *testing.T) {
	s := supervisor(t)
	kill, _ := server(t, s.dir, "k", script("exec sleep 1000"))
	killShim(t, s, "k")
	kill()
	if _, err := s.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := ended(t, s, "k"); st.State != Lost || st.StoppedBy != ByOwner {
		t.Errorf("%+v", st)
	}
	shimsGone(t, s.dir)
	if _, err := s.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, ownersFolder)); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestWhoOnlyLooksDoesNotHideAnOrphan(t *testing.T) {
	s := supervisor(t)
	spec := script("exec sleep 1000")
	spec.Keep = true
	ensure(t, s, "k", spec)
	killShim(t, s, "k")
	dir, _ := s.folder("k")
	looker, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(looker.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { looker.Close() })
	if all, err := s.Reconcile(t.Context()); err != nil || len(all) != 1 || all[0].State != Orphan {
		t.Errorf("%+v, %v", all, err)
	}
	if h, err := held(filepath.Join(dir, lockFile)); !h || err != nil {
		t.Error("it has no shim", err)
	}
}

// edit changes the record of a process whose shim is dead.
func edit(t *testing.T, s *Supervisor, key string, change func(*record)) {
	t.Helper()
	dir, _ := s.folder(key)
	r, err := readRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	change(&r)
	if err := r.write(dir); err != nil {
		t.Fatal(err)
	}
}

func TestANumberThatAnotherProcessHasIsNotTheProcess(t *testing.T) {
	for name, change := range map[string]func(*record){
		"start": func(r *record) { r.Process.Start++ },
		"boot":  func(r *record) { r.Process.Boot, r.Shim.Boot = "another", "another" },
		"gone":  func(r *record) { r.Process.PID = 1 << 22 },
	} {
		s := supervisor(t)
		innocent := exec.Command("sleep", "1000")
		if err := innocent.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { innocent.Process.Kill(); innocent.Wait() })
		spec := script("sleep 1000")
		spec.Keep = true
		st := ensure(t, s, "k", spec)
		killShim(t, s, "k")
		syscall.Kill(-st.PID, syscall.SIGKILL)
		until(t, "it lives", func() bool { st, _ := s.Status("k"); return st.State == Lost })
		edit(t, s, "k", func(r *record) {
			r.PID, r.Process = innocent.Process.Pid, identify(innocent.Process.Pid)
			change(r)
		})
		if st, err := s.Stop(t.Context(), "k", time.Nanosecond); err != nil || st.State != Lost {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
		all, err := s.Reconcile(t.Context())
		if err != nil || len(all) != 1 || all[0].State != Lost {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if !identify(innocent.Process.Pid).alive() {
			t.Errorf("%s: another process was killed", name)
		}
	}
}

func TestADamagedStatusIsLostAndHoldsUpNobody(t *testing.T) {
	s := supervisor(t)
	ensure(t, s, "a/1", script("true"))
	ensure(t, s, "b", script("true"))
	ended(t, s, "a/1")
	ended(t, s, "b")
	dir, _ := s.folder("a/1")
	shimsGone(t, s.dir)
	if err := os.WriteFile(filepath.Join(dir, statusFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.Reconcile(t.Context())
	if err != nil || len(all) != 2 || all[0].Key != "a/1" || all[0].State != Lost || all[1].State != Exited {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAProcessWhoseShimDiedBeforeItWroteWhoItIsIsFound(t *testing.T) {
	s := supervisor(t)
	spec := script("exec sleep 1000")
	spec.Keep = true
	st := ensure(t, s, "k", spec)
	killShim(t, s, "k")
	edit(t, s, "k", func(r *record) { r.State, r.PID, r.Process = Starting, 0, identity{} })
	if again := ensure(t, s, "k", spec); again.State != Orphan || again.PID != st.PID {
		t.Errorf("%+v", again)
	}
}

func TestWhatNeverRanIsStartedByTheNext(t *testing.T) {
	s := supervisor(t)
	dir, _ := s.folder("k")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(request{Key: "k"})
	for _, name := range []string{requestFile, requestFile + ".new", lockFile, statusFile + ".new", shimLog} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.Reconcile(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	ensure(t, s, "k", script("exit 2"))
	if st := ended(t, s, "k"); st.Exit != 2 {
		t.Errorf("%+v", st)
	}
}

// TestNoKillStartsAProcessTwice kills servers and shims at random moments, from before
// the start to after it, and always asks again.
func TestNoKillStartsAProcessTwice(t *testing.T) {
	s, dir := supervisor(t), t.TempDir()
	const rounds = 60
	random := rand.New(rand.NewPCG(1, 2))
	started := 0
	for i := range rounds {
		key := "k" + strconv.Itoa(i)
		file := filepath.Join(dir, key)
		spec := script("echo $$ >>" + file + "; exec sleep 1000")
		spec.Keep = i%2 == 0
		cmd, _ := startServer(t, s.dir, key, spec)
		pause(t, time.Duration(random.IntN(25000))*time.Microsecond)
		if i%3 > 0 {
			folder, _ := s.folder(key)
			if r, err := readRecord(folder); err == nil && r.Shim.PID > 0 {
				syscall.Kill(r.Shim.PID, syscall.SIGKILL)
			}
		}
		if i%3 < 2 {
			cmd.Process.Kill()
			cmd.Wait()
		}
		st := ensure(t, s, key, spec)
		if st, err := s.Stop(t.Context(), key, time.Second); err != nil || st.Stopped == Unkilled {
			t.Fatalf("%+v, %v", st, err)
		}
		b, _ := os.ReadFile(file)
		switch n := strings.Count(string(b), "\n"); {
		case n > 1:
			t.Errorf("round %d: started %d times: %q, %+v", i, n, b, st)
		case n == 1:
			started++
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	if started < rounds/2 {
		t.Errorf("only %d of %d ran: the test tests nothing", started, rounds)
	}
	if _, err := s.Reconcile(context.Background()); err != nil {
		t.Error(err)
	}
}

// pause lets real time pass: the moment of a kill is the test.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	if err := wait(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}
