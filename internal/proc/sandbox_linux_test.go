package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc/proctest"
)

func TestTheSandboxHidesTheHomeAndGuardsAllButTheProject(t *testing.T) {
	if landlockABI() == 0 {
		t.Skip("this kernel has no Landlock")
	}
	home, err := os.MkdirTemp("/var/tmp", "gantry-home-") // /tmp is open to a sandbox
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	work := filepath.Join(home, "src")
	for name, text := range map[string]string{
		".ssh/id": "SECRET", ".cargo/bin/tool": "TOOL", ".cargo/credentials.toml": "SECRET", ".config/x": "OPENED", "src/a": "WORK", "state/procs/other": "SECRET",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSupervisor(SupervisorOptions{Dir: filepath.Join(home, "state", "procs"), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	spec := script(`cat ../.ssh/id ../.cargo/bin/tool ../.cargo/credentials.toml ../.config/x ../state/procs/other a
		echo new >b && cat b; echo x >../c; echo x >../.cargo/bin/tool; echo x >/etc/gantry-test; echo x >/tmp/gantry-test-$$ && rm /tmp/gantry-test-$$ && echo tmp
		echo reopened >/dev/stdout; echo null >/dev/null; kill -0 $PPID || echo confined; exit 3`)
	spec.Dir, spec.Sandbox, spec.Readable = work, sandboxLandlock, []string{filepath.Join(home, ".config")}
	ensure(t, s, "k", spec)
	if st := ended(t, s, "k"); st.Exit != 3 {
		t.Errorf("%+v", st)
	}
	out, err := s.Tail("k", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := string(out.Data)
	for _, want := range []string{"TOOL\n", "OPENED\n", "WORK\n", "new\n", "tmp\n", "reopened\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "SECRET") || landlockABI() >= 6 && !strings.Contains(text, "confined\n") {
		t.Errorf("%s", text)
	}
	for _, path := range []string{filepath.Join(home, "c"), "/etc/gantry-test"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
			os.Remove(path)
		}
	}
	ensure(t, s, "free", script("cat "+home+"/.ssh/id")) // the shim's other threads are free, and so is the next process
	ended(t, s, "free")
	if out, _ := s.Tail("free", 0, 0); string(out.Data) != "SECRET\n" {
		t.Errorf("without a sandbox: %q", out.Data)
	}
	shimsGone(t, s.dir)
}

func TestAForkBombIsStopped(t *testing.T) {
	s := supervisor(t)
	// Each of its processes leaves its group and its session; bounded, so that a failing test does not take the machine along.
	ensure(t, s, "k", script(`f() { [ $1 -gt 0 ] && { setsid sh -c "$B" $(($1-1)) & setsid sh -c "$B" $(($1-1)) & }; sleep 1000; }
		export B='[ $0 -gt 0 ] && { setsid sh -c "$B" $(($0-1)) & setsid sh -c "$B" $(($0-1)) & }; trap "" TERM; sleep 1000; :'; f 6`))
	dir, _ := s.folder("k")
	r, _ := readRecord(dir)
	variable := tokenVariable + "=" + r.Token
	until(t, "no bomb", func() bool { return len(proctest.Marked(variable)) > 100 })
	st, err := s.Stop(t.Context(), "k", time.Millisecond)
	if err != nil || st.State != Exited || st.Swept < 50 {
		t.Errorf("%+v, %v", st, err)
	}
	if left := proctest.Marked(variable); len(left) > 0 {
		t.Errorf("%d live", len(left))
	}
}

func TestTheNumberOfProcessesIsBounded(t *testing.T) {
	s := supervisor(t)
	spec := script("cat /proc/self/limits")
	spec.MaxProcesses = 17
	before := running()
	ensure(t, s, "k", spec)
	ended(t, s, "k")
	out, _ := s.Tail("k", 0, 0)
	limit := map[string]string{}
	for line := range strings.Lines(string(out.Data)) {
		if f := strings.Fields(strings.TrimPrefix(line, "Max ")); len(f) > 2 {
			limit[f[0]] = strings.Join(f[1:], " ")
		}
	}
	soft, _, _ := strings.Cut(limit["processes"], " ")
	n, err := strconv.ParseUint(soft, 10, 64)
	path := cgroupPath("probe")
	dir, bounded := makeCgroup(path, 17)
	if dir != nil {
		dir.Close()
		removeCgroup(path)
	}
	if !bounded && (err != nil || n < 17 || n > before+1000) {
		t.Errorf("%q with %d running", limit["processes"], before)
	}
	if !strings.HasPrefix(limit["core"], "file size 0 0") {
		t.Errorf("core files: %q", limit["core"])
	}
}

func TestCapabilitiesAreWhatIsTrueHere(t *testing.T) {
	names := ""
	for _, c := range Capabilities() {
		names += c.Name + " "
		if c.Detail == "" || c.Name == "landlock" && c.Have != (landlockABI() > 0) {
			t.Errorf("%+v", c)
		}
	}
	if names != "subreaper pidfd cgroup landlock " {
		t.Error(names)
	}
}

func TestNoCgroupIsLeft(t *testing.T) {
	s := supervisor(t)
	ensure(t, s, "k", script("sleep 1000 & true"))
	ended(t, s, "k")
	ensure(t, s, "orphan", script("sleep 1000"))
	killShim(t, s, "orphan")
	if _, err := s.Stop(t.Context(), "orphan", time.Second); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k", "orphan"} {
		dir, _ := s.folder(key)
		r, err := readRecord(dir)
		if _, statErr := os.Stat(r.Cgroup); err != nil || r.Cgroup != "" && statErr == nil {
			t.Errorf("%s: %s is left, %v", key, r.Cgroup, err)
		}
	}
}
