package journal

import (
	"crypto/rand"
	"os"
	"path/filepath"
)

// PublishDir gives tmp, a folder built aside, its final name, in one step: a reader
// or a crash finds all of it or nothing. It fails with an error that satisfies
// errors.Is(err, fs.ErrExist) when final exists, and tmp is then unchanged.
//
// When durable, the entries of tmp are flushed before and the entry of final after
// the step, so that what returns is there for good; both folders must be on one file
// system, and the content of the files in tmp must have been flushed by their writers.
// An open [Journal] stays usable.
func PublishDir(fsys FS, tmp, final string, durable bool) error {
	if durable {
		if err := fsys.SyncDir(tmp); err != nil {
			return err
		}
	}
	if err := fsys.RenameNew(tmp, final); err != nil || !durable {
		return err
	}
	return fsys.SyncDir(filepath.Dir(final))
}

// TempPrefix starts the name of a file that WriteFileAtomic has not finished. One
// that is found after a crash can be deleted.
const TempPrefix = ".tmp-"

// WriteFileAtomic makes data the content of the file at path, in place of any it
// had: a reader or a crash finds the old content or the new. It returns after the new
// one is flushed. The file is readable and writable by its owner only.
func WriteFileAtomic(fsys FS, path string, data []byte) error {
	return WriteFileVia(fsys, filepath.Join(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-"+rand.Text()), path, data)
}

// WriteFileVia is WriteFileAtomic whose unfinished file is tmp, which must not exist
// and be on the same file system.
func WriteFileVia(fsys FS, tmp, path string, data []byte) error {
	if err := write(fsys, tmp, data, true); err != nil {
		fsys.Remove(tmp)
		return err
	}
	if err := fsys.Rename(tmp, path); err != nil {
		fsys.Remove(tmp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

// ReplaceFile is WriteFileAtomic that flushes nothing: a crash of the program leaves the
// old content or the new, a power cut may leave neither. It is for what can be made anew.
func ReplaceFile(fsys FS, path string, data []byte) error {
	tmp := filepath.Join(filepath.Dir(path), TempPrefix+filepath.Base(path)+"-"+rand.Text())
	err := write(fsys, tmp, data, false)
	if err == nil {
		err = fsys.Rename(tmp, path)
	}
	if err != nil {
		fsys.Remove(tmp)
	}
	return err
}

func write(fsys FS, path string, data []byte, flushed bool) error {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && flushed {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
