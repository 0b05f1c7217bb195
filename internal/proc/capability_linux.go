package proc

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Capabilities reports what the system lends to supervision.
func Capabilities() []Capability {
	list := []Capability{{"subreaper", true, "descendants that leave their process group are found"}}
	pidfd := Capability{"pidfd", false, "the end of an orphan is polled for"}
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err == nil {
		unix.Close(fd)
		pidfd = Capability{"pidfd", true, "the end of an orphan is told by the kernel"}
	}
	return append(list, pidfd, cgroupCapability(), landlockCapability())
}

func cgroupCapability() Capability {
	c := Capability{"cgroup", false, "no cgroup can be made: a tree is killed group by group, and its size bounded by user"}
	path := cgroupPath(fmt.Sprint("probe-", os.Getpid()))
	dir, bounded := makeCgroup(path, 1)
	if dir == nil {
		return c
	}
	dir.Close()
	defer removeCgroup(path)
	if _, err := os.Stat(filepath.Join(path, "cgroup.kill")); err != nil {
		return c
	}
	c.Have, c.Detail = true, "a tree is killed at once"
	if bounded {
		c.Detail += ", and its size is bounded"
	}
	return c
}

func landlockCapability() Capability {
	abi := landlockABI()
	if abi < 1 {
		return Capability{"landlock", false, "no sandbox: the kernel is older than 5.13, or Landlock is not switched on"}
	}
	return Capability{"landlock", true, fmt.Sprintf("sandboxes work, version %d", abi)}
}
