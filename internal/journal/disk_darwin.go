package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync relies on os.File.Sync, which asks macOS for F_FULLFSYNC: its fsync
// alone leaves the data in the drive's cache.
func datasync(f *os.File) error { return f.Sync() }

func renameNew(from, to string) error { return unix.RenamexNp(from, to, unix.RENAME_EXCL) }
