package proc

import (
	"context"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/fault"
)

// macOS has no subreaper, no pidfd, no cgroup and no Landlock: a process is stopped
// by its group, and what left the group may survive.

func ownProgram() (string, error) { return os.Executable() }

func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

// startTime returns when the process of the number started, in microseconds since
// the epoch. ok is false when there is none, or only a zombie.
func startTime(pid int) (micros uint64, ok bool) {
	const zombie = 5
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || p.Proc.P_stat == zombie {
		return 0, false
	}
	t := p.Proc.P_starttime
	return uint64(t.Sec)*1e6 + uint64(t.Usec), true
}

func becomeSubreaper() error { return nil }

func awaitEnd(ctx context.Context, id identity) error { return pollEnd(ctx, id) }

func growPipe(*os.File) {}

func dup(from, to int) error { return unix.Dup2(from, to) }

func limitProcesses(int) (restore func()) { return func() {} }

func limitChild(int) {}

// member is one process of a tree.
type member struct{ pid, group int }

// tree returns what is left of the process's group, as one member.
func (s *shim) tree() []member {
	if errors.Is(unix.Kill(-s.rec.PID, 0), unix.ESRCH) {
		return nil
	}
	return []member{{s.rec.PID, s.rec.PID}}
}

func (r *record) findStarted() bool { return false }

func cgroupPath(string) string                     { return "" }
func makeCgroup(string, int) (*os.File, bool)      { return nil, false }
func enterCgroup(*syscall.SysProcAttr, *os.File)   {}
func killCgroup(string)                            {}
func removeCgroup(string)                          {}
func (s *shim) inSandbox(start func() error) error { return errNoLandlock() }

func errNoLandlock() error {
	return fault.New(fault.ToolchainMissing, "this system has no Landlock").WithHint("start it without a sandbox")
}

// Capabilities reports what the system lends to supervision.
func Capabilities() []Capability {
	return []Capability{
		{"subreaper", false, "descendants that leave their process group may survive a stop"},
		{"pidfd", false, "the end of an orphan is polled for"},
		{"cgroup", false, "a tree is killed group by group"},
		{"landlock", false, "no sandbox"},
	}
}
