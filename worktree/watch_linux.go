package worktree

import (
	"slices"

	"golang.org/x/sys/unix"
)

// watch is told by the kernel of changes in folders. Nobody waits for it: whoever wants
// to know asks whether anything came. A watch of nothing, nil, is good for no folder.
type watch struct {
	fd   int
	full bool // the system watches no more folders
}

// told are the changes that count. Reading is none.
const told = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// Kinds of file systems on which every change comes from this machine, by their magic
// numbers: ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs.
var localSystems = []int64{0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1}

// newWatch returns a watch for a folder and what is below it, or nil when the system
// cannot tell of every change there.
func newWatch(root string) *watch {
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil || !slices.Contains(localSystems, int64(fs.Type)) {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil // there are too many
	}
	return &watch{fd: fd}
}

// add adds a folder, and reports whether that could be done.
func (w *watch) add(folder string) bool {
	if w == nil {
		return false
	}
	_, err := unix.InotifyAddWatch(w.fd, folder, told)
	w.full = w.full || err == unix.ENOSPC
	return err == nil
}

// quiet reports whether nothing has changed since the watch was made.
func (w *watch) quiet() bool {
	if w == nil {
		return false
	}
	_, err := unix.Read(w.fd, make([]byte, 4096))
	return err == unix.EAGAIN
}

func (w *watch) close() {
	if w != nil {
		unix.Close(w.fd)
	}
}
