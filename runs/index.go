package runs

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/db"
	"github.com/gantry-run/gantry/internal/journal"
)

// index is the SQLite cache over the journals: it finds runs by key and lists
// them. A journal is always written before its row.
type index struct {
	path  string
	store *Store

	mu     sync.Mutex
	db     *sql.DB
	synced chan struct{} // closed when the rows agree with the folders
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
) WITHOUT ROWID;`}

// open opens the database once and starts to make it agree with the folders.
func (x *index) open(ctx context.Context) (*sql.DB, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db != nil {
		return x.db, nil
	}
	opts := db.Options{Synchronous: db.Normal, Migrations: indexSchema}
	conn, err := db.Open(ctx, x.path, opts)
	if errors.Is(err, db.ErrUnusable) {
		x.store.log.Warn("the index is not readable and is made anew", "error", err.Error())
		if err = db.Remove(x.path); err == nil {
			conn, err = db.Open(ctx, x.path, opts)
		}
	}
	if err != nil {
		return nil, err
	}
	x.db, x.synced = conn, make(chan struct{})
	go x.sync(conn, x.synced)
	return conn, nil
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.db == nil {
		return nil
	}
	<-x.synced
	return x.db.Close()
}

// complete returns the database once its rows agree with the folders.
func (x *index) complete(ctx context.Context) (*sql.DB, error) {
	conn, err := x.open(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case <-x.synced:
		return conn, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// sync adds the runs that have a folder and no row, and removes the rows without
// folder: what a crash, or the loss of the index, has left behind.
func (x *index) sync(conn *sql.DB, done chan struct{}) {
	defer close(done)
	ctx := context.Background()
	if err := x.reconcile(ctx, conn); err != nil {
		x.store.log.Warn("the index could not be compared with the runs", "error", err.Error())
	}
}

func (x *index) reconcile(ctx context.Context, conn *sql.DB) error {
	folders, err := readNames(filepath.Join(x.store.dir, "runs"))
	if err != nil {
		return err
	}
	missing := map[ID]bool{}
	for _, name := range folders {
		if !strings.HasPrefix(name, ".") {
			missing[ID(name)] = true
		}
	}
	rows, err := conn.QueryContext(ctx, `SELECT run_id FROM runs`)
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
		if _, err := os.Stat(x.store.Dir(id)); errors.Is(err, fs.ErrNotExist) {
			if _, err := conn.ExecContext(ctx, `DELETE FROM runs WHERE run_id = ?`, id); err != nil {
				return err
			}
		}
	}
	for id := range missing {
		v, head, err := x.store.viewAt(id)
		if err != nil {
			x.store.log.Warn("a run cannot be read", "run_id", string(id), "error", err.Error())
			continue
		}
		if err := x.write(ctx, conn, v, head); err != nil {
			return err
		}
	}
	return nil
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// put records a run as it is at head.
func (x *index) put(ctx context.Context, v *View, head journal.Head) error {
	conn, err := x.open(ctx)
	if err != nil {
		return err
	}
	return x.write(ctx, conn, v, head)
}

func (x *index) write(ctx context.Context, conn *sql.DB, v *View, head journal.Head) error {
	var finished *int64
	if v.FinishedAt != nil {
		ms := v.FinishedAt.UnixMilli()
		finished = &ms
	}
	_, err := conn.ExecContext(ctx, `
		INSERT INTO runs (run_id, kind, state, root, owner, product, created_at, finished_at, busy, seq, hash, size)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, finished_at = excluded.finished_at, busy = excluded.busy,
			seq = excluded.seq, hash = excluded.hash, size = excluded.size
		WHERE excluded.seq >= runs.seq`,
		v.RunID, v.Kind, v.State, v.Created.Root, v.Created.Owner, v.Labels["product_slug"], v.CreatedAt.UnixMilli(), finished,
		v.Busy(), head.Seq, head.Hash, head.Size)
	if err != nil || v.Created.Once == nil {
		return err
	}
	return x.bind(ctx, conn, v.Created.Owner, *v.Created.Once, v.RunID, v.CreatedAt)
}

// bindKey records which run a keyed call is about to make. The row may be wrong
// if the call dies; whoever finds it looks for the run.
func (x *index) bindKey(ctx context.Context, owner string, o Once, id ID, now time.Time) error {
	conn, err := x.open(ctx)
	if err != nil {
		return err
	}
	return x.bind(ctx, conn, owner, o, id, now)
}

func (x *index) bind(ctx context.Context, conn *sql.DB, owner string, o Once, id ID, at time.Time) error {
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
	conn, err := x.open(ctx)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `UPDATE runs SET busy = 1 WHERE run_id = ?`, id)
	return err
}
