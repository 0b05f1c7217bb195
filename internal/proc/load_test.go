package proc

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// full runs the load tests at the size of the promise: go test -run Load -full.
var full = flag.Bool("full", false, "50 processes of 20 MB and one of 1 GB, instead of small ones")

func TestLoadCostsNeitherMemoryNorDisk(t *testing.T) {
	processes, each, one := 10, 2, 64
	if *full {
		processes, each, one = 50, 20, 1024
	}
	s := supervisor(t)
	ensure(t, s, "endless", script(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", one<<20)))
	for i := range processes {
		ensure(t, s, strconv.Itoa(i), script(fmt.Sprintf("yes 'a line of some length, as compilers write them' | head -c %d", each<<20)))
	}
	var slowest []time.Duration
	peak := 0
	for busy := true; busy; {
		began := time.Now()
		all, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		slowest = append(slowest, time.Since(began))
		if _, err := s.Tail("endless", 10, 8192); err != nil {
			t.Fatal(err)
		}
		busy = slices.ContainsFunc(all, func(st Status) bool { return !st.State.Ended() })
		for _, st := range all {
			if st.State == Running && len(slowest)%20 == 1 {
				peak = max(peak, private(shimOf(t, s, st.Key)))
			}
		}
	}
	all, err := s.List()
	if err != nil || len(all) != processes+1 {
		t.Fatal(len(all), err)
	}
	for _, st := range all {
		want := int64(each) << 20
		if st.Key == "endless" {
			want = int64(one) << 20
		}
		e, err := s.Extent(st.Key)
		if err != nil || st.State != Exited || st.Exit != 0 || e.Total != want || e.Total-e.DroppedBytes > defaultKept*5/4 {
			t.Errorf("%+v: %+v, %v", st, e, err)
		}
		dir, _ := s.folder(st.Key)
		if n := disk(t, dir); n > defaultKept*5/4+100<<10 {
			t.Errorf("%s takes %d bytes", st.Key, n)
		}
	}
	if peak > 20<<10 {
		t.Errorf("a shim takes %d kB of its own", peak)
	}
	slices.Sort(slowest)
	t.Logf("listing %d processes: p50 %v, p99 %v of %d; a shim's own memory at most %d kB; this process %d kB", processes+1,
		slowest[len(slowest)/2], slowest[len(slowest)*99/100], len(slowest), peak, private(os.Getpid()))
}

// private returns the memory that a process alone has, in kB.
func private(pid int) int {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	sum := 0
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "Private_") {
			n, _ := strconv.Atoi(f[1])
			sum += n
		}
	}
	return sum
}

func disk(t *testing.T, dir string) (sum int64) {
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if info, infoErr := e.Info(); err == nil && infoErr == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkTrue starts true and waits for it: supervised, and bare.
func BenchmarkTrue(b *testing.B) {
	b.Run("supervised", func(b *testing.B) {
		s := supervisor(b)
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			key := strconv.Itoa(i)
			began := time.Now()
			ensure(b, s, key, ProcSpec{Name: "true", Env: testEnv})
			ended(b, s, key)
			took = append(took, time.Since(began))
		}
		report(b, took)
	})
	b.Run("bare", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		report(b, took)
	})
}

// BenchmarkOutput writes 64 MB: to a shim, and to a file by cat.
func BenchmarkOutput(b *testing.B) {
	const size = 64 << 20
	b.Run("supervised", func(b *testing.B) {
		s := supervisor(b)
		b.SetBytes(size)
		for i := 0; b.Loop(); i++ {
			ensure(b, s, strconv.Itoa(i), script(fmt.Sprintf("head -c %d /dev/zero", size)))
			ended(b, s, strconv.Itoa(i))
		}
	})
	b.Run("cat", func(b *testing.B) {
		b.SetBytes(size)
		file := filepath.Join(b.TempDir(), "out")
		for b.Loop() {
			if err := exec.Command("sh", "-c", fmt.Sprintf("head -c %d /dev/zero | cat >%s", size, file)).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkShimMemory reports what a shim of a quiet process takes.
func BenchmarkShimMemory(b *testing.B) {
	s := supervisor(b)
	for i := 0; b.Loop(); i++ {
		ensure(b, s, strconv.Itoa(i), script("exec sleep 1000"))
		pid := shimOf(b, s, strconv.Itoa(i))
		b.ReportMetric(float64(private(pid)), "private-kB")
		b.ReportMetric(float64(resident(pid)), "rss-kB")
		if _, err := s.Stop(b.Context(), strconv.Itoa(i), time.Second); err != nil {
			b.Fatal(err)
		}
	}
}

func resident(pid int) int {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	defer f.Close()
	var size, pages int
	if _, err := fmt.Fscan(io.LimitReader(f, 100), &size, &pages); err != nil {
		return 0
	}
	return pages * syscall.Getpagesize() >> 10
}
