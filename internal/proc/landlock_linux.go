package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/fault"
)

const (
	landlockReads = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	// landlockFiles are the rights that mean something for what is not a folder.
	landlockFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockABI returns the version of Landlock, 0 when there is none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlockAll returns every right on files that the version knows.
func landlockAll(abi int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_REFER - 1)
	if abi >= 2 {
		all |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		all |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		all |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// inSandbox runs start on a thread that Landlock confines, and that ends with it.
// What it starts inherits the confinement; the rest of this process has none.
func (s *shim) inSandbox(start func() error) error {
	abi := landlockABI()
	if abi < 1 {
		return fault.New(fault.ToolchainMissing, "this system has no Landlock").WithHint("start it without a sandbox")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := s.confine(abi)
		if err == nil {
			err = start()
		}
		done <- err
	}()
	return <-done
}

func (s *shim) confine(abi int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockAll(abi)}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), rulesetSize(abi), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	for _, r := range s.sandboxRules() {
		rights := attr.Handled_access_fs
		if !r.write {
			rights &= landlockReads
		}
		if err := allowBeneath(int(fd), r.path, rights); err != nil && !os.IsNotExist(err) && err != unix.EACCES {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// rulesetSize is how much of the attributes the version knows.
func rulesetSize(abi int) uintptr {
	switch {
	case abi >= 6:
		return unsafe.Offsetof(unix.LandlockRulesetAttr{}.Scoped) + 8
	case abi >= 4:
		return 16
	}
	return 8
}

func allowBeneath(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landlockFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// rule allows reading, or everything, at and beneath a path.
type rule struct {
	path  string
	write bool
}

// toolchains are the folders of the home folder that builds read and that hold no
// secrets.
var toolchains = []string{
	".asdf", ".bun/bin", ".cache", ".cargo/bin", ".cargo/env", ".cargo/git", ".cargo/registry", ".deno", ".gradle/wrapper", ".local/bin", ".local/lib",
	".local/share/mise", ".local/share/pnpm", ".local/share/uv", ".m2/repository", ".m2/wrapper", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman",
	".volta", "go", "sdk",
}

// sandboxRules lists what a sandboxed process may touch. Landlock only allows, so
// what is hidden is left out: of every folder on the way to it, the other entries
// are allowed one by one.
func (s *shim) sandboxRules() []rule {
	spec := s.req.Spec
	hidden := []string{"/home", "/root", "/etc/shadow", "/etc/gshadow"}
	for _, path := range []string{s.req.Home, s.req.State} {
		if filepath.IsAbs(path) {
			hidden = append(hidden, filepath.Clean(path))
		}
	}
	rules := readable("/", hidden, nil)
	if filepath.IsAbs(s.req.Home) {
		for _, name := range toolchains {
			rules = append(rules, rule{filepath.Join(s.req.Home, name), false})
		}
	}
	for _, path := range spec.Readable {
		rules = append(rules, rule{path, false})
	}
	for _, path := range append([]string{spec.Dir, "/tmp", "/dev", filepath.Join(s.dir, outputPipe), filepath.Join(s.dir, errorsPipe)}, spec.Writable...) {
		rules = append(rules, rule{path, true})
	}
	return rules
}

// readable appends rules for all that is beneath dir but not hidden.
func readable(dir string, hidden []string, rules []rule) []rule {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return rules
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch hides(path, hidden) {
		case nothing:
			rules = append(rules, rule{path, false})
		case part:
			rules = readable(path, hidden, rules)
		}
	}
	return rules
}

type hiding int

const (
	nothing hiding = iota
	part
	whole
)

// hides says how much of a path is hidden.
func hides(path string, hidden []string) hiding {
	answer := nothing
	for _, h := range hidden {
		if h == path || strings.HasPrefix(path, h+"/") {
			return whole
		}
		if strings.HasPrefix(h, path+"/") {
			answer = part
		}
	}
	return answer
}
