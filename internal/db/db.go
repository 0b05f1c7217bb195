// Package db opens SQLite files the way this program needs them.
//
// A file is in WAL mode, so that readers and one writer do not wait for each other,
// across processes too; writers wait for each other instead of failing; foreign keys
// are enforced. The schema is a list of migrations, counted in the file's
// user_version. Ten processes may open a new file at once: one migrates, the others
// wait for it.
//
// A file that cannot be used, because it is damaged or because a newer program wrote
// it, is told from other failures, for a caller that can build it anew: see
// [ErrCorrupt], [ErrNewer] and [Remove].
//
// The driver is written in Go, so the program needs no C compiler and stays one
// static file. Nothing is done at a process's start; opening an existing file costs
// a fraction of a millisecond, or two when no other process has it open.
package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrCorrupt is in the chain of an error of Open when the file is damaged or is
	// no SQLite database.
	ErrCorrupt = errors.New("db: the file is damaged")
	// ErrNewer is in the chain of an error of Open when the file has more migrations
	// than Options.
	ErrNewer = errors.New("db: the file was written by a newer version")
)

// Synchronous says what a commit waits for.
type Synchronous string

const (
	// Normal commits survive a crash of the program. A power cut may take back the
	// last ones, never the consistency: for what can be built anew.
	Normal Synchronous = "NORMAL"
	// Full commits survive a power cut.
	Full Synchronous = "FULL"
)

// Options says how to open a file.
type Options struct {
	Synchronous Synchronous
	// Migrations are scripts of one or more statements. The first n are those of
	// schema version n: append, never change.
	Migrations []string
}

// patience is how long a writer waits for another one.
const patience = 10 * time.Second

// maxConns bounds the connections of one file, each of which costs memory.
const maxConns = 4

// Open opens the file at path, which is made if need be (its folder is not), and
// brings its schema up to date. A transaction takes the write lock when it begins, so
// that it cannot fail for it half-way, unless its options say ReadOnly.
// Errors of a damaged file that show later satisfy [Corrupt].
func Open(ctx context.Context, path string, o Options) (*sql.DB, error) {
	connector, err := connectorFor(path, o.Synchronous)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	if err := prepare(ctx, db, o.Migrations); err != nil {
		db.Close()
		if Corrupt(err) {
			err = errors.Join(ErrCorrupt, err)
		}
		return nil, fmt.Errorf("open %s: %w", filepath.Base(path), err)
	}
	return db, nil
}

// Writer gives a second way into a file that Open has opened, of one connection. What is
// written through it waits its turn here, and not inside of SQLite with a connection in
// its hand, so that the readers always find one free.
func Writer(path string, synchronous Synchronous) (*sql.DB, error) {
	connector, err := connectorFor(path, synchronous)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// connectorFor makes connections with our settings. WAL is not among them: it is a
// property of the file.
func connectorFor(path string, synchronous Synchronous) (driver.Connector, error) {
	if synchronous != Normal && synchronous != Full {
		return nil, fmt.Errorf("db: synchronous is %q, want %s or %s", synchronous, Normal, Full)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	query := url.Values{
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(patience.Milliseconds(), 10) + ")",
			"foreign_keys(1)",
			"synchronous(" + string(synchronous) + ")",
		},
		"_txlock": {"immediate"},
	}
	file := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return sqlite.NewConnector(file.String())
}

// prepare makes the file ready: one connection, two questions when it already is.
func prepare(ctx context.Context, db *sql.DB, migrations []string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := versionOf(ctx, conn)
	if err != nil {
		return err
	}
	if err := ensureWAL(ctx, conn); err != nil {
		return err
	}
	switch {
	case version > len(migrations):
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, version, len(migrations))
	case version < len(migrations):
		return migrate(ctx, conn, migrations)
	}
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func versionOf(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}

// ensureWAL puts the file into WAL mode. For that SQLite wants the file for itself
// and does not wait, whatever the busy timeout says.
func ensureWAL(ctx context.Context, conn *sql.Conn) error {
	deadline := time.Now().Add(patience)
	for {
		var mode string
		err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode == "wal" {
			return nil
		}
		if err == nil {
			err = conn.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		}
		if err == nil && mode != "wal" {
			return fmt.Errorf("db: the file system allows only journal mode %s", mode)
		}
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// migrate runs the migrations that the file lacks, all or none. Another process may
// have run them since version was read.
func migrate(ctx context.Context, conn *sql.Conn, migrations []string) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := versionOf(ctx, tx)
	if err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, version, len(migrations))
	}
	for i := version; i < len(migrations); i++ {
		if _, err := tx.ExecContext(ctx, migrations[i]); err != nil {
			return fmt.Errorf("migration %d: %w", i+1, err)
		}
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA user_version="+strconv.Itoa(len(migrations))); err != nil {
		return err
	}
	return tx.Commit()
}

// Corrupt reports whether err says that the file is damaged, at Open or later.
func Corrupt(err error) bool {
	code := primaryCode(err)
	return errors.Is(err, ErrCorrupt) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

// NoRoom reports whether a write failed because the disk has no room left.
func NoRoom(err error) bool { return primaryCode(err) == sqlite3.SQLITE_FULL }

func busy(err error) bool {
	code := primaryCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// primaryCode returns SQLite's code without the extension, 0 for another error.
func primaryCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// Remove deletes the file and what belongs to it, so that the next Open makes a new
// one. It must not be open anywhere. A file that is not there is no error.
func Remove(path string) error {
	var failed error
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
