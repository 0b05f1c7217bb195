package runs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
)

// Format is the version of the layout of a state directory.
const Format = "1"

// Store keeps runs in a state directory, which any number of processes may share:
//
//	<dir>/format
//	      index.db                a cache: it can be deleted at any time
//	      index.lock              held while index.db is made
//	      keys/<hash>.lock        held while a keyed start is under way
//	      runs/<run_id>/          events.ndjson (the truth), snapshot.json, run_config.yaml, drive.lock, call.lock,
//	                              commands/ artifacts/ drafts/ reports/ logs/ work/
//
// Its methods may be called concurrently.
type Store struct {
	dir   string
	disk  journal.FS
	now   func() time.Time
	log   *slog.Logger
	index index
	views viewCache
	hub   hub // changes of runs
	post  hub // commands left for runs
	calls callLocks

	appends appendTimes
}

// StoreOptions are what a Store needs beside its directory. The zero value is usable.
type StoreOptions struct {
	Disk journal.FS       // default: the operating system's
	Now  func() time.Time // default: time.Now
	Log  *slog.Logger     // default: none
}

// OpenStore opens the state directory, and makes it when it is missing. It is
// cheap: the index is opened when it is first needed. A network file system or a
// directory of a newer format is STORE_UNSUPPORTED.
func OpenStore(dir string, o StoreOptions) (*Store, error) {
	if o.Disk == nil {
		o.Disk = journal.Disk{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, disk: o.Disk, now: o.Now, log: o.Log}
	s.index = index{path: filepath.Join(dir, "index.db"), store: s}
	s.views.init()
	s.calls.init()
	if err := s.layout(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) layout() error {
	path := filepath.Join(s.dir, "format")
	found, err := os.ReadFile(path)
	switch {
	case err == nil && strings.TrimSpace(string(found)) == Format:
		return nil
	case err == nil:
		return fault.New(fault.StoreUnsupported, "the state directory has format %.20q, this program knows %s", strings.TrimSpace(string(found)), Format)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for _, d := range []string{"runs", "keys"} {
		if err := os.MkdirAll(filepath.Join(s.dir, d), 0o700); err != nil {
			return fault.New(fault.StoreUnsupported, "the state directory cannot be made").Because(err)
		}
	}
	if err := journal.SupportedFilesystem(s.dir); err != nil {
		return err
	}
	return journal.WriteFileAtomic(s.disk, path, []byte(Format+"\n"))
}

// Close releases what the store holds open. Runs are not touched.
func (s *Store) Close() error { return s.index.close() }

// Dir returns the folder of a run, whether it exists or not. The id must be valid.
func (s *Store) Dir(id ID) string { return filepath.Join(s.dir, "runs", string(id)) }

func (s *Store) events(id ID) string { return filepath.Join(s.Dir(id), "events.ndjson") }

// find returns the state of a run's journal, or RUN_NOT_FOUND unless the run has a
// folder with one. A link, or a name that is no id, is no run.
func (s *Store) find(id ID) (fs.FileInfo, error) {
	if !id.Valid() {
		return nil, notFound(id)
	}
	folder, err := os.Lstat(s.Dir(id))
	if err == nil && !folder.IsDir() {
		return nil, notFound(id)
	}
	var events fs.FileInfo
	if err == nil {
		events, err = os.Lstat(s.events(id))
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && !events.Mode().IsRegular() {
		return nil, notFound(id)
	}
	return events, err
}

// notFound is the fault for a run that does not exist, or not for this caller.
func notFound(id ID) error {
	return fault.New(fault.RunNotFound, "there is no run %.64q", string(id))
}

// hub wakes those in this process who watch a run.
type hub struct {
	mu    sync.Mutex
	waits map[ID]chan struct{}
}

// changed returns a channel that is closed at the next change of the run.
func (h *hub) changed(id ID) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits == nil {
		h.waits = map[ID]chan struct{}{}
	}
	c, ok := h.waits[id]
	if !ok {
		c = make(chan struct{})
		h.waits[id] = c
	}
	return c
}

func (h *hub) notify(id ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, ok := h.waits[id]; ok {
		close(c)
		delete(h.waits, id)
	}
}

// Changed returns a channel that is closed when this process next changes the run
// or leaves it a command. Changes made by other processes are not seen: poll as well.
func (s *Store) Changed(id ID) <-chan struct{} { return s.hub.changed(id) }

// Posted returns a channel that is closed when this process next leaves a command
// for the run.
func (s *Store) Posted(id ID) <-chan struct{} { return s.post.changed(id) }

// poll is how often another process's changes are looked for.
const poll = 25 * time.Millisecond

// wait returns at the next change of the run, after poll, or at the end of ctx.
func (s *Store) wait(ctx context.Context, changed <-chan struct{}) error {
	t := time.NewTimer(poll)
	defer t.Stop()
	select {
	case <-changed:
	case <-t.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Size returns the bytes of the journal of a run, which grows with everything that
// happens to the run, or 0 when there is none. It costs one look at a file.
func (s *Store) Size(id ID) int64 {
	info, err := s.find(id)
	if err != nil {
		return 0
	}
	return info.Size()
}
