package runs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
)

// lazyDisk flushes nothing, for making many runs fast.
type lazyDisk struct{ journal.Disk }

type lazyFile struct{ journal.File }

func (d lazyDisk) OpenFile(path string, flag int, perm os.FileMode) (journal.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	return lazyFile{f}, err
}

func (lazyDisk) SyncDir(string) error { return nil }
func (lazyFile) Sync() error          { return nil }

// tenThousand is a state directory with as many runs, made once for all benchmarks
// that want it; TestMain removes it.
var tenThousand struct {
	once sync.Once
	dir  string
}

func stateWithTenThousand(b *testing.B) string {
	b.Helper()
	tenThousand.once.Do(func() {
		dir, err := os.MkdirTemp("", "runs-bench-")
		if err != nil {
			b.Fatal(err)
		}
		tenThousand.dir = dir
		now := &clock{at: time.UnixMilli(1_700_000_000_000)}
		s := open(b, dir, runs.StoreOptions{Disk: lazyDisk{}, Now: now.now})
		r := request("")
		for i := range 10_000 {
			now.pass(time.Second)
			r.ID = runs.ID(fmt.Sprintf("run_%06d", i))
			create(b, s, r)
		}
	})
	return tenThousand.dir
}

// percentiles reports the middle and the slow end of what single operations took.
func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
}

func BenchmarkListRuns(b *testing.B) {
	s := open(b, stateWithTenThousand(b), runs.StoreOptions{})
	var took []time.Duration
	f := runs.Filter{Limit: 50}
	for b.Loop() {
		began := time.Now()
		page, err := s.List(b.Context(), f)
		took = append(took, time.Since(began))
		if err != nil || len(page.Runs) != 50 {
			b.Fatal(len(page.Runs), err)
		}
		f.Cursor = page.NextCursor
	}
	percentiles(b, took)
}

func BenchmarkView(b *testing.B) {
	s := open(b, b.TempDir(), runs.StoreOptions{})
	id := create(b, s, request(""))
	drive(b, s, id, -1)
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.View(id); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if _, err := runs.Fold(s.Events(id, 0)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Opening a store and the first list after it, with an index and without.
func BenchmarkOpenStore(b *testing.B) {
	dir := stateWithTenThousand(b)
	use := func(b *testing.B, listed bool) {
		s, err := runs.OpenStore(dir, runs.StoreOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if listed {
			if page, err := s.List(b.Context(), runs.Filter{Limit: 50}); err != nil || len(page.Runs) != 50 {
				b.Fatal(len(page.Runs), err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			use(b, false)
		}
	})
	b.Run("first list", func(b *testing.B) {
		for b.Loop() {
			use(b, true)
		}
	})
	b.Run("first list without index", func(b *testing.B) {
		for b.Loop() {
			for _, name := range []string{"index.db", "index.db-wal", "index.db-shm"} {
				os.Remove(filepath.Join(dir, name))
			}
			use(b, true)
		}
	})
}
