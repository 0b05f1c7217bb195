package taskstore

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// List returns the tasks of the store, those that changed last first, then by id. What is
// no task is passed over.
func (s Store) List(withArchived bool) ([]Found, error) {
	patterns := []string{filepath.Join(escape(s.root), "*", metaName)}
	if withArchived {
		patterns = append(patterns, filepath.Join(escape(s.root), archiveDir, "[0-9]*", "[0-9]*", "[0-9]*", "*", metaName))
	}
	out := []Found{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			dir := filepath.Dir(path)
			if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !Named(filepath.Base(dir)) {
				continue
			}
			f, err := s.read(dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Found) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// Archive moves the files of a task to the day's folder of the archive and returns that
// folder, relative to the root of the store. It is empty when the store has no such task.
// A task that has been archived stays where it is.
func (s Store) Archive(id string, now time.Time) (string, error) {
	dir, err := s.folder(id)
	if err != nil {
		return "", err
	}
	f, err := s.read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = s.Find(id); fault.Is(err, fault.SessionNotFound) {
			return "", nil
		}
		return f.Folder, err
	}
	if err != nil {
		return "", err
	}
	f.State, f.UpdatedAt = Archived, now.UTC()
	if err := s.Write(f.Task); err != nil {
		return "", err
	}
	for _, name := range []string{pidName, pipeName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	to := filepath.Join(archiveDir, now.UTC().Format("2006/01/02"), id)
	if err := os.MkdirAll(filepath.Join(s.root, filepath.Dir(to)), 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(dir, filepath.Join(s.root, to)); err != nil {
		return "", err
	}
	return to, nil
}
