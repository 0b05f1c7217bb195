package proc

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownProgram is this program's file, also when it was replaced meanwhile.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// bootID tells one boot of the machine from another.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(b))
}

// startTime returns when the process of the number started, in clock ticks since
// the boot. ok is false when there is none, or only a zombie.
func startTime(pid int) (ticks uint64, ok bool) {
	st, ok := readStat(pid)
	return st.start, ok
}

// stat is what we read of /proc/<pid>/stat.
type stat struct {
	parent, group, session int
	start                  uint64
}

func readStat(pid int) (stat, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name, in parentheses, may hold anything.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 {
		return stat{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return n }
	start, _ := strconv.ParseUint(f[19], 10, 64)
	dead := f[0] == "X" || f[0] == "Z" && number(17) <= 1 // a process may go on when its first thread ended
	return stat{number(1), number(2), number(3), start}, !dead
}

// becomeSubreaper makes this process the parent of all descendants whose own
// parents end.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// awaitEnd returns when the process is over, or with ctx's error.
func awaitEnd(ctx context.Context, id identity) error {
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if err == unix.ESRCH {
		return nil
	}
	if err != nil {
		return pollEnd(ctx, id)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if !id.alive() { // looked at now, the descriptor cannot be of a later process
		return nil
	}
	stop := context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Now()) })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// growPipe lets a writer run ahead of its reader.
func growPipe(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 256<<10) })
	}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// limitProcesses bounds the processes that children of this one may start, and
// returns what lifts the bound from this one. The kernel counts the processes of
// the user, so what others run now is added.
func limitProcesses(n int) (restore func()) {
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &now) != nil {
		return func() {}
	}
	bound := unix.Rlimit{Cur: min(now.Max, running()+uint64(n)), Max: now.Max}
	unix.Setrlimit(unix.RLIMIT_NPROC, &bound)
	return func() { unix.Setrlimit(unix.RLIMIT_NPROC, &now) }
}

// limitChild makes the child's bound on processes final.
func limitChild(pid int) {
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NPROC, nil, &now) == nil && now.Cur < now.Max {
		unix.Prlimit(pid, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: now.Cur, Max: now.Cur}, nil)
	}
}

// running returns the number of tasks of the machine: at least those of this user.
func running() uint64 {
	b, _ := os.ReadFile("/proc/loadavg") // such as 0.20 0.18 0.12 1/80 11206
	f := strings.Fields(string(b))
	if len(f) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(f[3], "/")
	n, _ := strconv.ParseUint(all, 10, 64)
	return n
}

func enterCgroup(attr *syscall.SysProcAttr, group *os.File) {
	attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
}
