package runs

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/db"
	"github.com/gantry-run/gantry/internal/journal"
)

// index is the SQLite cache over the journals: it finds runs by key and lists
// them. A journal is always written before its row. The file can be deleted at any
// time, also while processes use it: each finds out and opens the new one.
type index struct {
	path  string
	store *Store

	mu   sync.Mutex
	now  *indexFile
	past []*indexFile // deleted files that somebody may still be reading
}

// indexFile is the index as it was opened.
type indexFile struct {
	*sql.DB         // for readers
	writer  *sql.DB // its one connection is the order of the writers of this process
	info    fs.FileInfo
	synced  chan struct{} // closed when the rows agree with the folders
}

var indexSchema = []string{`
CREATE TABLE runs (
	run_id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, root TEXT NOT NULL, owner TEXT NOT NULL,
	product TEXT NOT NULL, created_at INTEGER NOT NULL, finished_at INTEGER, busy INTEGER NOT NULL,
	seq INTEGER NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX runs_newest ON runs (created_at DESC, run_id DESC);
CREATE INDEX runs_busy ON runs (run_id) WHERE busy = 1;
CREATE TABLE keys (
	owner TEXT NOT NULL, key TEXT NOT NULL, run_id TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (owner, key)
) WITHOUT ROWID;`, `
CREATE INDEX runs_ended ON runs (kind, root, finished_at);`}

// open opens the file once, and again when it has been deleted, and starts to make
// it agree with the folders.
func (x *index) open(ctx context.Context) (*indexFile, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	info, err := os.Stat(x.path)
	if x.now != nil && err == nil && os.SameFile(info, x.now.info) {
		return x.now, nil
	}
	if x.now != nil {
		x.past, x.now = append(x.past, x.now), nil
	}
	conn, err := x.openFile(ctx)
	if err != nil {
		return nil, err
	}
	info, err = os.Stat(x.path)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	writer, err := db.Writer(x.path, db.Normal)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	x.now = &indexFile{DB: conn, writer: writer, info: info, synced: make(chan struct{})}
	go x.sync(x.now)
	return x.now, nil
}

// openFile opens the file that is there. Only under a lock is one made, or one that
// cannot be used replaced: what SQLite keeps beside a deleted file must go first.
func (x *index) openFile(ctx context.Context) (*sql.DB, error) {
	opts := db.Options{Synchronous: db.Normal, Migrations: indexSchema}
	open := func() (*sql.DB, error) {
		if _, err := os.Stat(x.path); err != nil {
			return nil, err
		}
		return db.Open(ctx, x.path, opts)
	}
	usable := func(err error) bool {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, db.ErrCorrupt) && !errors.Is(err, db.ErrNewer)
	}
	if conn, err := open(); usable(err) {
		return conn, err
	}
	lock, err := x.store.waitLock(ctx, filepath.Join(x.store.dir, "index.lock"), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer lock.release()
	conn, err := open()
	if usable(err) {
		return conn, err // another process was faster
	}
	if !errors.Is(err, fs.ErrNotExist) {
		x.store.log.Warn("the index is not readable and is made anew", "error", err.Error())
	}
	if err := db.Remove(x.path); err != nil {
		return nil, err
	}
	return db.Open(ctx, x.path, opts)
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var failed error
	for _, f := range append(x.past, x.now) {
		if f != nil {
			<-f.synced
			failed = errors.Join(failed, f.writer.Close(), f.Close())
		}
	}
	x.past, x.now = nil, nil
	return failed
}

// complete returns the database once its rows agree with the folders.
func (x *index) complete(ctx context.Context) (*indexFile, error) {
	f, err := x.open(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.synced:
		return f, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// put records a run as it is at head, which must be durable.
func (x *index) put(ctx context.Context, v *View, head journal.Head) error {
	f, err := x.open(ctx)
	if err != nil {
		return err
	}
	if v.Seq == 1 {
		if err := x.bindKeyOf(ctx, f.writer, v); err != nil {
			return err
		}
	}
	if v.due() {
		return x.write(ctx, f.writer, v, head)
	}
	// Nothing to do, unless a command was left. Whoever leaves one wakes the run after
	// that, so look under the lock of the write.
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := x.write(ctx, tx, v, head); err != nil {
		return err
	}
	return tx.Commit()
}

// execer is a database or a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (x *index) write(ctx context.Context, to execer, v *View, head journal.Head) error {
	busy := v.due()
	if !busy {
		left, err := x.store.letters(v.RunID)
		if err != nil {
			return err
		}
		busy = len(left) > 0
	}
	var finished *int64
	if v.FinishedAt != nil {
		ms := v.FinishedAt.UnixMilli()
		finished = &ms
	}
	_, err := to.ExecContext(ctx, `
		INSERT INTO runs (run_id, kind, state, root, owner, product, created_at, finished_at, busy, seq, hash, size)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, finished_at = excluded.finished_at, busy = excluded.busy,
			seq = excluded.seq, hash = excluded.hash, size = excluded.size
		WHERE excluded.seq >= runs.seq`,
		v.RunID, v.Kind, v.State, v.Created.Root, v.Created.Owner, v.Labels["product_slug"], v.CreatedAt.UnixMilli(), finished,
		busy, head.Seq, head.Hash, head.Size)
	return err
}

// bindKeyOf records that the run was made under its key, if it has one.
func (x *index) bindKeyOf(ctx context.Context, to execer, v *View) error {
	if v.Created.Once == nil {
		return nil
	}
	return x.bind(ctx, to, v.Created.Owner, *v.Created.Once, v.RunID, v.CreatedAt)
}

// bindKey records which run a keyed call is about to make. The row may be wrong
// if the call dies; whoever finds it looks for the run.
func (x *index) bindKey(ctx context.Context, owner string, o Once, id ID, now time.Time) error {
	f, err := x.open(ctx)
	if err != nil {
		return err
	}
	return x.bind(ctx, f.writer, owner, o, id, now)
}

func (x *index) bind(ctx context.Context, conn execer, owner string, o Once, id ID, at time.Time) error {
	_, err := conn.ExecContext(ctx, `
		INSERT INTO keys (owner, key, run_id, hash, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (owner, key) DO UPDATE SET run_id = excluded.run_id, hash = excluded.hash, at = excluded.at
		WHERE excluded.at >= keys.at`, owner, o.Key, id, o.Hash, at.UnixMilli())
	return err
}

// byKey returns the run that a key was last bound to, "" when there is none.
func (x *index) byKey(ctx context.Context, owner, key string) (id ID, at time.Time, err error) {
	conn, err := x.complete(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	var ms int64
	err = conn.QueryRowContext(ctx, `SELECT run_id, at FROM keys WHERE owner = ? AND key = ?`, owner, key).Scan(&id, &ms)
	if errors.Is(err, sql.ErrNoRows) {
		return "", time.Time{}, nil
	}
	return id, time.UnixMilli(ms), err
}

// head returns the head that the index remembers of a run.
func (x *index) head(ctx context.Context, id ID) (journal.Head, bool) {
	conn, err := x.open(ctx)
	if err != nil {
		return journal.Head{}, false
	}
	var h journal.Head
	err = conn.QueryRowContext(ctx, `SELECT seq, hash, size FROM runs WHERE run_id = ?`, id).Scan(&h.Seq, &h.Hash, &h.Size)
	return h, err == nil
}

// wake marks a run as one to look at.
func (x *index) wake(ctx context.Context, id ID) error {
	f, err := x.open(ctx)
	if err != nil {
		return err
	}
	_, err = f.writer.ExecContext(ctx, `UPDATE runs SET busy = 1 WHERE run_id = ?`, id)
	return err
}

// rest marks a run as one that nobody can do anything with.
func (x *index) rest(ctx context.Context, id ID) error {
	f, err := x.complete(ctx)
	if err != nil {
		return err
	}
	_, err = f.writer.ExecContext(ctx, `UPDATE runs SET busy = 0 WHERE run_id = ?`, id)
	return err
}
