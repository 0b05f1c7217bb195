package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// sharedFilesystem returns the type of the shared file system that dir is on, or "".
func sharedFilesystem(dir string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if fs.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(fs.Fstypename[:]), nil
}
