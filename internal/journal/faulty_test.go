package journal

import (
	"errors"
	"os"
	"sync/atomic"
)

var errDisk = errors.New("the disk fails")

// countingDisk is the real disk that counts, holds flushes up at a gate, and fails
// on demand; a failing write leaves half of its bytes.
type countingDisk struct {
	Disk
	writes, syncs atomic.Int64
	wrote         chan struct{} // one element for each write
	gate          chan struct{} // flushes wait until it is closed
	failing       atomic.Value
	failNext      atomic.Bool // one flush fails
}

func newCountingDisk() *countingDisk {
	d := &countingDisk{wrote: make(chan struct{}, 1000)}
	d.fail("")
	return d
}

func (d *countingDisk) fail(what string) { d.failing.Store(what) }

func (d *countingDisk) OpenFile(path string, flag int, perm os.FileMode) (File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	return countingFile{f, d}, err
}

type countingFile struct {
	File
	disk *countingDisk
}

func (f countingFile) Write(b []byte) (int, error) {
	if f.disk.failing.Load() == "write" {
		f.File.Write(b[:len(b)/2])
		return len(b) / 2, errDisk
	}
	n, err := f.File.Write(b)
	f.disk.writes.Add(1)
	f.disk.wrote <- struct{}{}
	return n, err
}

func (f countingFile) Sync() error {
	f.disk.syncs.Add(1)
	if f.disk.gate != nil {
		<-f.disk.gate
	}
	if f.disk.failNext.Swap(false) || f.disk.failing.Load() == "sync" {
		return errDisk
	}
	return f.File.Sync()
}

// hastyDisk is the real disk without flushes, for tests that write much and are not
// about losing power.
type hastyDisk struct{ Disk }

type hastyFile struct{ File }

func (hastyFile) Sync() error { return nil }

func (d hastyDisk) OpenFile(path string, flag int, perm os.FileMode) (File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return hastyFile{f}, nil
}
