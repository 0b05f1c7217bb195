package inventory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

const (
	headBytes = 8000    // what git looks at to tell binary from text
	readLimit = 1 << 20 // the largest manifest or document that is parsed
	copyChunk = 128 << 10

	lfsPointer    = "version https://git-lfs.github.com/spec/"
	maxLFSPointer = 1024 // bytes, by the specification
)

var errTooLarge = errors.New("larger than 1 MiB")

// readFiles fills size, hash, binary flag and language of every file. A file
// that cannot be read moves to skipped.
func (t *tree) readFiles(ctx context.Context) error {
	t.hashes = make([]string, len(t.files))
	errs := make([]error, len(t.files))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		workers.Go(func() {
			buf := make([]byte, copyChunk)
			for i := range next {
				errs[i] = t.readFile(ctx, i, buf)
			}
		})
	}
	for i := range t.files {
		next <- i
	}
	close(next)
	workers.Wait()
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	t.dropUnreadable(errs)
	return nil
}

// dropUnreadable moves the files with an error to skipped and indexes the rest.
func (t *tree) dropUnreadable(errs []error) {
	kept := 0
	t.byPath, t.dirs = map[string]int{}, map[string]bool{}
	for i, file := range t.files {
		switch {
		case errors.Is(errs[i], errNotRegular):
			t.skip(file.Path, skipSpecial)
			continue
		case errors.Is(errs[i], errLFS):
			t.skip(file.Path, skipLFS)
			continue
		case errs[i] != nil:
			t.skip(file.Path, skipUnreadable)
			continue
		}
		t.files[kept], t.hashes[kept] = file, t.hashes[i]
		t.byPath[file.Path] = kept
		for dir := parent(file.Path); dir != "." && !t.dirs[dir]; dir = parent(dir) {
			t.dirs[dir] = true
		}
		kept++
	}
	t.files, t.hashes = t.files[:kept], t.hashes[:kept]
	slices.SortFunc(t.skipped, func(a, b dossier.SkippedPath) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
}

// readFile streams one file through its two hashes.
func (t *tree) readFile(ctx context.Context, i int, buf []byte) error {
	file := &t.files[i]
	f, err := t.open(file.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	var head []byte
	content, named := sha256.New(), sha256.New()
	io.WriteString(named, file.Path+"|")
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := f.Read(buf)
		if need := headBytes - len(head); need > 0 && n > 0 {
			head = append(head, buf[:min(n, need)]...)
		}
		content.Write(buf[:n])
		named.Write(buf[:n])
		file.Size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	file.SHA256 = hex.EncodeToString(content.Sum(nil))
	t.hashes[i] = hex.EncodeToString(named.Sum(nil))
	if file.Size < maxLFSPointer && bytes.HasPrefix(head, []byte(lfsPointer)) {
		return errLFS
	}
	file.Binary = bytes.IndexByte(head, 0) >= 0
	if !file.Binary {
		file.Language = languageOf(file.Path, head)
	}
	return nil
}

// open opens a regular file; a pipe that took its place does not block.
func (t *tree) open(name string) (*os.File, error) {
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// read returns the content of a file of at most 1 MiB.
func (t *tree) read(name string) ([]byte, error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, readLimit+1))
	if err == nil && len(data) > readLimit {
		err = errTooLarge
	}
	return data, err
}

// fingerprint is the SHA-256 over the sorted hashes of path and content.
func (t *tree) fingerprint() string {
	sorted := slices.Sorted(slices.Values(t.hashes))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "")))
	return hex.EncodeToString(sum[:])
}
