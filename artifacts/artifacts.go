// Package artifacts keeps the files of a run: written whole, hashed, found again
// by name, read in slices.
//
// A [Folder] is a run's folder opened as a root: no name, link or ".." leads out of
// it, in either direction. A file is written aside, flushed and renamed, so a
// reader or a crash finds all of it or nothing; writing the same bytes again changes
// nothing. A [Reader] gives slices of a file from the disk and keeps small ones for a
// while, found by their hash, so what it gives is never older than what was asked for.
package artifacts

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Info describes a file of a run.
type Info struct {
	Path   string // relative to the run's folder, with forward slashes
	SHA256 string
	Size   int64
}

// Folder is a run's folder. Close it.
type Folder struct {
	root *os.Root
	dir  string
}

// Open opens a run's folder.
func Open(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root, dir}, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Root returns the folder as a root, for what is not an artifact.
func (f *Folder) Root() *os.Root { return f.root }

// Write makes data the content of the file, atomically and durably, with its
// folders. A path that leads out of the run's folder is POLICY_PATH_ESCAPE and
// writes nothing.
func (f *Folder) Write(name string, data []byte) (Info, error) {
	sum := sha256.Sum256(data)
	info := Info{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
	if !filepath.IsLocal(name) {
		return Info{}, escape(name, nil)
	}
	folder := path.Dir(name)
	if old, err := f.root.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return info, f.syncFolder(folder) // whoever wrote it may have died before this
	}
	if err := f.makeFolder(folder); err != nil {
		return Info{}, escape(name, err)
	}
	tmp := path.Join(folder, ".tmp-"+rand.Text())
	if err := f.writeFlushed(tmp, data); err != nil {
		f.root.Remove(tmp)
		return Info{}, escape(name, err)
	}
	if err := f.root.Rename(tmp, name); err != nil {
		f.root.Remove(tmp)
		return Info{}, escape(name, err)
	}
	return info, f.syncFolder(folder)
}

// makeFolder makes a folder and those above it, each durably.
func (f *Folder) makeFolder(name string) error {
	if info, err := f.root.Stat(name); name == "." || err == nil && info.IsDir() {
		return err
	}
	if err := f.makeFolder(path.Dir(name)); err != nil {
		return err
	}
	if err := f.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.syncFolder(path.Dir(name))
}

func (f *Folder) writeFlushed(name string, data []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

func (f *Folder) syncFolder(name string) error {
	d, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Read returns the whole content of a file. Use it for files that this program
// made and bounds; [Reader.Slice] is for callers.
func (f *Folder) Read(name string) ([]byte, error) {
	data, err := f.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.ArtifactNotFound, "the run has no file %s", path.Base(name))
	}
	if err != nil {
		return nil, escape(name, err)
	}
	return data, nil
}

// Slice reads at most limit bytes from offset on. A link that leads out of the
// run's folder is POLICY_PATH_ESCAPE; what is no regular file ARTIFACT_NOT_FOUND.
func (f *Folder) Slice(name string, offset, limit int64) (data []byte, size int64, err error) {
	info, err := f.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, fault.New(fault.ArtifactNotFound, "%s is not a file", path.Base(name))
	}
	if err != nil {
		return nil, 0, readFault(name, err)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, 0, readFault(name, err)
	}
	defer file.Close()
	if offset >= info.Size() {
		return nil, info.Size(), nil
	}
	data = make([]byte, min(limit, info.Size()-offset))
	n, err := file.ReadAt(data, offset)
	if err == io.EOF {
		err = nil
	}
	return data[:n], info.Size(), err
}

// Hash returns the SHA-256 of a file, read in pieces.
func (f *Folder) Hash(name string) (string, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", readFault(name, err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func readFault(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.ArtifactNotFound, "the run has no file %s", path.Base(name))
	}
	return escape(name, err)
}

// escape tells a path that leads out of the folder from a disk that fails. The
// standard library has no error value for the former.
func escape(name string, err error) error {
	if err == nil || strings.Contains(err.Error(), "path escapes") {
		return fault.New(fault.PathEscape, "the path %.80q leads out of the run's folder", path.Base(name)).Because(err)
	}
	return err
}

// ContentType returns the media type of an artifact by its name.
func ContentType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return "application/json"
	case ".ndjson", ".jsonl":
		return "application/x-ndjson"
	case ".md":
		return "text/markdown"
	case ".yaml", ".yml":
		return "application/yaml"
	case ".patch", ".diff":
		return "text/x-diff"
	case ".log", ".txt":
		return "text/plain"
	}
	return "application/octet-stream"
}
