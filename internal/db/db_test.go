package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

var migrations = []string{
	`CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT`,
	`CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parents) STRICT;
	 CREATE INDEX children_parent ON children (parent);
	 INSERT INTO parents (name) VALUES ('first; one')`,
}

func open(t testing.TB, path string, synchronous Synchronous, migrations ...string) *sql.DB {
	t.Helper()
	db, err := Open(t.Context(), path, Options{Synchronous: synchronous, Migrations: migrations})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func ask[T any](t testing.TB, q querier, query string) (v T) {
	t.Helper()
	if err := q.QueryRowContext(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestEveryConnectionHasOurSettings(t *testing.T) {
	for synchronous, want := range map[Synchronous]int{Normal: 1, Full: 2} {
		db := open(t, filepath.Join(t.TempDir(), "odd ?#%20 name.db"), synchronous)
		for range maxConns {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if got := ask[string](t, conn, "PRAGMA journal_mode"); got != "wal" {
				t.Errorf("journal_mode is %s", got)
			}
			if got := ask[int](t, conn, "PRAGMA synchronous"); got != want {
				t.Errorf("synchronous is %d, want %d", got, want)
			}
			if got := ask[int](t, conn, "PRAGMA foreign_keys"); got != 1 {
				t.Errorf("foreign_keys is %d", got)
			}
			if got := ask[int](t, conn, "PRAGMA busy_timeout"); got != 10000 {
				t.Errorf("busy_timeout is %d", got)
			}
		}
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "x"), Options{}); err == nil {
		t.Error("synchronous must be said")
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none", "x"), Options{Synchronous: Full}); err == nil || Corrupt(err) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestMigrationsRunOnceInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open(t, path, Full, migrations[0]).Close()
	for range 2 {
		db := open(t, path, Full, migrations...)
		if got := ask[int](t, db, "PRAGMA user_version"); got != 2 {
			t.Errorf("version %d", got)
		}
		if got := ask[int](t, db, "SELECT count(*) FROM parents"); got != 1 {
			t.Errorf("%d parents", got)
		}
		if _, err := db.Exec("INSERT INTO children (parent) VALUES (99)"); err == nil {
			t.Error("a child without a parent")
		}
		db.Close()
	}
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open(t, path, Full, migrations[0]).Close()
	bad := []string{migrations[0], migrations[1], `CREATE TABLE third (id); CREATE GARBAGE`}
	if _, err := Open(t.Context(), path, Options{Synchronous: Full, Migrations: bad}); err == nil || !strings.Contains(err.Error(), "migration 3") || Corrupt(err) {
		t.Fatalf("%v", err)
	}
	db := open(t, path, Full, migrations[0])
	if got := ask[int](t, db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('children', 'third')"); got != 0 {
		t.Errorf("%d tables of the failed migration", got)
	}
}

func TestAnUnusableFileIsToldAndCanBeMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open(t, path, Normal, migrations...).Close()
	_, err := Open(t.Context(), path, Options{Synchronous: Normal, Migrations: migrations[:1]})
	if !errors.Is(err, ErrNewer) || Corrupt(err) {
		t.Errorf("newer: %v", err)
	}
	for name, content := range map[string][]byte{
		"no database": bytes.Repeat([]byte("garbage "), 1000),
		"short":       []byte("garbage"),
		"page":        damaged(t, path),
	} {
		if err := Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), path, Options{Synchronous: Normal, Migrations: append(migrations, "SELECT * FROM parents")})
		if !errors.Is(err, ErrCorrupt) || !Corrupt(err) || errors.Is(err, ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(err.Error(), filepath.Dir(path)) {
			t.Errorf("%s: the error tells the path: %v", name, err)
		}
	}
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := Remove(path); err != nil {
		t.Errorf("nothing to remove: %v", err)
	}
	open(t, path, Normal, migrations...)
}

// damaged returns the file's content with a page of the schema overwritten.
func damaged(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[100:], bytes.Repeat([]byte{0xff}, 200))
	return content
}

func TestDamageFoundLaterIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open(t, path, Full, migrations...)
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	content, _ := os.ReadFile(path)
	copy(content[4096:], bytes.Repeat([]byte{0xff}, 4096)) // the root page of parents
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db = open(t, path, Full, migrations...)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM parents WHERE name > ''").Scan(&n); !Corrupt(err) {
		t.Errorf("%v", err)
	}
	if Corrupt(nil) || Corrupt(context.Canceled) || Corrupt(sql.ErrNoRows) {
		t.Error("other errors are taken for damage")
	}
}

func TestWritersWaitForEachOther(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"), Normal, migrations...)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				if err := addOne(t.Context(), db, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := ask[int](t, db, "SELECT count(*) FROM parents"); got != 161 {
		t.Errorf("%d parents", got)
	}
}

// addOne reads and then writes in one transaction, which fails when the lock is not
// taken at its beginning.
func addOne(ctx context.Context, db *sql.DB, i int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM parents").Scan(&n); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO parents (name) VALUES (?)", fmt.Sprint(i, n)); err != nil {
		return err
	}
	return tx.Commit()
}

// childPath is given to a copy of the test binary that plays another process.
const childPath = "GANTRY_TEST_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		os.Exit(child(path))
	}
	os.Exit(m.Run())
}

// child opens the file when it is told to, and writes.
func child(path string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for began := time.Now(); time.Since(began) < 10*time.Second; { // all children start together
		if _, err := os.Stat(path + ".go"); err == nil {
			break
		}
	}
	db, err := Open(ctx, path, Options{Synchronous: Full, Migrations: migrations})
	if err == nil {
		defer db.Close()
		for i := 0; err == nil && i < 5; i++ {
			err = addOne(ctx, db, i)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func TestTenProcessesMayOpenANewFileAtOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round))
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				r, err := proc.Run(t.Context(), proc.Spec{Name: self, Env: []string{childPath + "=" + path}})
				if err != nil || !r.OK() {
					t.Errorf("%v %s", err, r.Stderr)
				}
			})
		}
		if err := os.WriteFile(path+".go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		db := open(t, path, Full, migrations...)
		if got := ask[int](t, db, "SELECT count(*) FROM parents"); got != 51 {
			t.Errorf("%d parents, want 51", got)
		}
		if got := ask[string](t, db, "PRAGMA integrity_check"); got != "ok" {
			t.Error(got)
		}
	}
}

// The promise: opening a file that exists costs less than 3 ms.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.db")
	keep := open(b, path, Normal, migrations...)
	b.Run("another process has it open", func(b *testing.B) { benchOpen(b, path) })
	keep.Close()
	b.Run("nobody has it open", func(b *testing.B) { benchOpen(b, path) })
}

func benchOpen(b *testing.B, path string) {
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{Synchronous: Normal, Migrations: migrations})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func TestOpenWaitsForAWriterOfAFileWithoutWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	connector, err := connectorFor(path, Full)
	if err != nil {
		t.Fatal(err)
	}
	other := sql.OpenDB(connector)
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, path, Options{Synchronous: Full}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it did not wait: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	open(t, path, Full, migrations...)
}
