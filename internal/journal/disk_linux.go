package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func datasync(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		for failed = unix.Fdatasync(int(fd)); failed == unix.EINTR; failed = unix.Fdatasync(int(fd)) {
		}
	}); err != nil {
		return err
	}
	return failed
}

// renameNew falls back to rename(2) where the file system has no RENAME_NOREPLACE.
// That is as safe for a folder: it replaces nothing but an empty folder.
func renameNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return unix.Rename(from, to)
	}
	return err
}
