package runs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/journal"
)

// sync makes the index agree with the folders: what a crash, or the loss of the
// index, has left behind.
func (x *index) sync(f *indexFile) {
	defer close(f.synced)
	if err := x.reconcile(context.Background(), f); err != nil {
		x.store.log.Warn("the index could not be compared with the runs", "error", err.Error())
	}
}

// reconcile adds the runs that have a folder and no row, removes the rows without
// folder, and clears away what was never finished.
func (x *index) reconcile(ctx context.Context, f *indexFile) error {
	missing, err := x.store.folders()
	if err != nil {
		return err
	}
	rows, err := f.QueryContext(ctx, `SELECT run_id FROM runs`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var gone []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if !missing[id] {
			gone = append(gone, id)
		}
		delete(missing, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range gone {
		if _, err := x.store.find(id); err == nil {
			continue // published meanwhile
		}
		if _, err := f.writer.ExecContext(ctx, `DELETE FROM runs WHERE run_id = ?`, id); err != nil {
			return err
		}
	}
	ids := make([]ID, 0, len(missing))
	for id := range missing {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for some := range slices.Chunk(ids, 200) {
		if err := x.add(ctx, f, some); err != nil {
			return err
		}
	}
	return nil
}

// add writes the rows of runs in one transaction, after reading all of them.
func (x *index) add(ctx context.Context, f *indexFile, ids []ID) error {
	type found struct {
		view *View
		head journal.Head
	}
	var all []found
	for _, id := range ids {
		v, head, err := x.store.viewAt(id)
		if err == nil {
			err = x.store.flush(v) // the index remembers only what is durable
		}
		if err != nil {
			x.store.log.Warn("a run cannot be read", "run_id", string(id), "error", err.Error())
			continue
		}
		all = append(all, found{v, head})
	}
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, one := range all {
		if err := errors.Join(x.write(ctx, tx, one.view, one.head), x.bindKeyOf(ctx, tx, one.view)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// abandoned is after how long what is still being made is given up.
const abandoned = time.Hour

// folders returns the runs that have a folder, and deletes what was begun beside
// them and never finished.
func (s *Store) folders() (map[ID]bool, error) {
	dir := filepath.Join(s.dir, "runs")
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1) // in no order, which spares sorting
	if err != nil {
		return nil, err
	}
	out := make(map[ID]bool, len(entries))
	for _, e := range entries {
		switch {
		case e.IsDir() && ID(e.Name()).Valid():
			out[ID(e.Name())] = true
		case strings.HasPrefix(e.Name(), buildPrefix):
			if err := s.clear(filepath.Join(dir, e.Name()), e); err != nil {
				s.log.Warn("what was never finished cannot be deleted", "error", err.Error())
			}
		}
	}
	return out, nil
}

func (s *Store) clear(dir string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // finished meanwhile
	}
	if err != nil || s.now().Sub(info.ModTime()) < abandoned {
		return err
	}
	return os.RemoveAll(dir)
}
