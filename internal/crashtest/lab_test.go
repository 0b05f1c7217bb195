package crashtest

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lab is a state directory, a folder of repositories, and the processes that work
// on them.
type lab struct {
	t     *testing.T
	root  string // holds the repositories that launches name
	state string
	mark  string // an environment entry that every process of the lab inherits
	env   []string
	umask int // of the processes, 0 for this process's own
}

func newLab(t *testing.T) *lab {
	t.Helper()
	readSource.Do(func() { readAll(t) })
	dir := t.TempDir()
	l := &lab{t: t, root: filepath.Join(dir, "root"), state: filepath.Join(dir, "state"), mark: "GANTRY_LAB=" + rand.Text()}
	home := filepath.Join(dir, "home")
	for _, d := range []string{l.root, home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.env = []string{
		l.mark, "HOME=" + home, "GITLOG=" + filepath.Join(dir, "git.log"), "TMPDIR=" + dir,
		"PATH=" + gitFolder + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	t.Cleanup(func() { // before the folders go
		for _, pid := range l.processes("") {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return l
}

// readSource makes the results of these tests depend on the source of the program,
// which the go command does not know of, so that old results are not taken for new.
var readSource sync.Once

func readAll(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && path != "../.." {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// command is gantry with arguments, on the lab's state directory.
func (l *lab) command(args ...string) *exec.Cmd {
	args = append(args, "--state-dir", l.state, "--root", l.root, "--rate-limit", "0")
	cmd := exec.Command(gantry, args...)
	if l.umask != 0 { // a shell sets it, for this process's own is shared by all tests
		cmd = exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`umask %04o; exec "$0" "$@"`, l.umask), gantry}, args...)...)
	}
	cmd.Dir, cmd.Env = l.root, slices.Clone(l.env)
	return cmd
}

// run runs gantry to its end and returns what it printed.
func (l *lab) run(args ...string) (stdout, stderr string, err error) {
	cmd := l.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// must is run that has to succeed.
func (l *lab) must(args ...string) string {
	l.t.Helper()
	out, errs, err := l.run(args...)
	if err != nil {
		l.t.Fatalf("gantry %s: %v\n%s%s", strings.Join(args, " "), err, out, errs)
	}
	return out
}

// processes returns the living processes of the lab whose command line holds a word.
// It looks in /proc, and finds nothing where there is none.
func (l *lab) processes(word string) []int {
	var out []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(env, []byte(l.mark)) {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && len(line) > 0 && slices.Contains(strings.Split(string(line), "\x00"), word) || word == "" && err == nil && len(line) > 0 {
			out = append(out, pid)
		}
	}
	return out
}

// git runs git on a folder, as it is, and returns what it printed.
func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_AUTHOR_DATE=@1700000000 +0100",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_COMMITTER_DATE=@1700000000 +0100")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// folder returns the folder of a run.
func (l *lab) folder(id string) string { return filepath.Join(l.state, "runs", id) }

// runs returns the ids of all runs, in order.
func (l *lab) runs() []string {
	entries, err := os.ReadDir(filepath.Join(l.state, "runs"))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out
}

// eventually waits until a fact holds that nothing tells of.
func eventually(t *testing.T, what string, fact func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !fact() {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after a minute: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// need skips the test where the machine lacks something.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if !ok {
		t.Skip("needs " + what)
	}
}

func write(t *testing.T, path string, parts ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(parts, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func envInt(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return n
}
