// Package db opens SQLite databases the one way that every database of this
// program is opened: write-ahead log, foreign keys, a busy timeout, migrations by
// user_version. Any number of processes may open one file at once, also a new one.
//
// It knows no tables: each owner brings its migrations. A file that cannot be used
// (not a database, damaged, written by a newer version) is [ErrUnusable], so that
// the owner of a rebuildable one can [Remove] it and open again.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Synchronous says what a commit waits for.
type Synchronous string

const (
	// Normal commits survive a crash of the program; a power cut may take back the
	// last ones, never the consistency. For what can be rebuilt.
	Normal Synchronous = "NORMAL"
	// Full commits survive a power cut.
	Full Synchronous = "FULL"
)

// Options say how to open a database.
type Options struct {
	Synchronous Synchronous
	Migrations  []string // one script a version; never changed once released
}

// ErrUnusable is for a file that is there and cannot be used as this database.
var ErrUnusable = errors.New("the database file is not usable")

// busyTimeout is how long a statement waits for another process's write.
const busyTimeout = 10 * time.Second

// Open opens the database file, makes it when it is missing and brings its schema
// up to date.
func Open(ctx context.Context, path string, o Options) (*sql.DB, error) {
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "foreign_keys(1)",
		fmt.Sprintf("synchronous(%s)", o.Synchronous),
	}, "_txlock": {"immediate"}}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	conn, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, conn, o.Migrations); err != nil {
		conn.Close()
		return nil, fmt.Errorf("open database: %w", classify(err))
	}
	return conn, nil
}

func migrate(ctx context.Context, conn *sql.DB, scripts []string) error {
	version, err := userVersion(ctx, conn)
	if err != nil || version == len(scripts) {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// Another process may have been faster: look again under the write lock.
	if version, err = userVersion(ctx, tx); err != nil || version == len(scripts) {
		return err
	}
	if version > len(scripts) {
		return fmt.Errorf("%w: schema version %d, this program knows %d", ErrUnusable, version, len(scripts))
	}
	for _, script := range scripts[version:] {
		if _, err := tx.ExecContext(ctx, script); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(scripts))); err != nil {
		return err
	}
	return tx.Commit()
}

func userVersion(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

func classify(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	return err
}

// Remove deletes a database file and the files that SQLite keeps beside it.
func Remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
