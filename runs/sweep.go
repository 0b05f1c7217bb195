package runs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/journal"
)

// sweep removes the unfinished files that a driver which died has left in a run's
// folder. Only the driver may call it. The folders in work/ belong to the workers.
func (s *Store) sweep(id ID) {
	dir := s.Dir(id)
	work := filepath.Join(dir, "work")
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && filepath.Dir(path) == work:
			return fs.SkipDir
		case e.Type().IsRegular() && strings.HasPrefix(e.Name(), journal.TempPrefix):
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		s.log.Warn("what a driver has left behind cannot be removed", "run_id", string(id), "error", err.Error())
	}
}
