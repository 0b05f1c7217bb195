package journal

import (
	"io"
	"os"
)

// FS is the little that a journal needs of a disk. Paths are the operating
// system's. Errors satisfy errors.Is with fs.ErrExist and fs.ErrNotExist.
type FS interface {
	// OpenFile takes the flags of os.OpenFile: O_RDONLY, O_RDWR, O_APPEND, O_CREATE, O_EXCL.
	OpenFile(path string, flag int, perm os.FileMode) (File, error)
	// Rename puts from in the place of to, which may exist.
	Rename(from, to string) error
	// RenameNew is Rename that fails with fs.ErrExist when to exists.
	RenameNew(from, to string) error
	// Remove deletes a file.
	Remove(path string) error
	// SyncDir flushes the entries of a folder: what was created in it, renamed or removed.
	SyncDir(path string) error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Writer
	io.Closer
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Sync flushes the content and the size; after an error the content is unknown.
	Sync() error
	// Size returns the current size in bytes.
	Size() (int64, error)
}

// Disk is the operating system's file system.
type Disk struct{}

// OpenFile implements [FS].
func (Disk) OpenFile(path string, flag int, perm os.FileMode) (File, error) {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// Rename implements [FS].
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// RenameNew implements [FS].
func (Disk) RenameNew(from, to string) error {
	if err := renameNew(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// Remove implements [FS].
func (Disk) Remove(path string) error { return os.Remove(path) }

// SyncDir implements [FS].
func (Disk) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

type diskFile struct{ *os.File }

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync flushes content and size, and not the times where that can be spared.
func (f diskFile) Sync() error { return datasync(f.File) }
