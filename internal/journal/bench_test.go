package journal

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// The promise: a durable append costs at most 1.5 times what the disk needs to write
// and flush the same bytes. Compare these two in one run.

func BenchmarkFdatasync(b *testing.B) {
	f, err := Disk{}.OpenFile(filepath.Join(b.TempDir(), "f"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	_, _, line := seal(Head{Hash: digest(nil)}, [][]byte{body(1)})
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := f.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	j := benchJournal(b)
	for b.Loop() {
		if _, _, err := j.Append(true, body(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendConcurrent(b *testing.B) {
	j := benchJournal(b)
	b.SetParallelism(16)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := j.Append(true, body(int(n.Add(1)))); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendNotDurable(b *testing.B) {
	j := benchJournal(b)
	for b.Loop() {
		if _, _, err := j.Append(false, body(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	path, _, data := sample(b, 1000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for _, err := range Read(Disk{}, path, Head{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func benchJournal(b *testing.B) *Journal {
	j, err := Create(Disk{}, filepath.Join(b.TempDir(), "j"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	_, lines, err := j.Append(true, body(1))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(lines[0].Raw)) + 1)
	return j
}
