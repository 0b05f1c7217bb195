package proc

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// niceness returns how nice a process is, 19 at most.
func niceness(pid int) (int, error) {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
	return 20 - n, err // as the system call has it
}

// yieldSession makes the shim's session yield as a whole: a kernel that groups by
// session shares the processor among those, and niceness counts within one only. The
// kernel takes but a few of these changes a second of all users together.
func yieldSession(nice int) bool {
	err := os.WriteFile("/proc/self/autogroup", []byte(strconv.Itoa(nice)), 0)
	return !errors.Is(err, unix.EAGAIN)
}
