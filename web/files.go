package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// maxMasked is how long a file may be that is given with masked secrets. A longer one
// is streamed from the disk, and only if it has none.
const maxMasked = 8 << 20

func sortedNames(v *runs.View) []string { return slices.Sorted(maps.Keys(v.Artifacts)) }

func (s service) artifact(r *rest.Request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := validate.ArtifactName(name); err != nil {
		return fault.New(fault.ArtifactNotFound, "there is no such artifact")
	}
	r.W.Header().Set("Content-Type", artifacts.ContentType(name))
	r.W.Header().Set("Cache-Control", "no-cache") // ask again, with the entity tag
	path := name
	switch name {
	case "snapshot.json":
		raw, err := v.Snapshot()
		if err != nil {
			return err
		}
		return serve(r, s.o.Mask(raw), v.UpdatedAt)
	case "run_config.yaml", "events.ndjson":
	default:
		a, ok := v.Artifacts[name]
		if !ok {
			return fault.New(fault.ArtifactNotFound, "run %s has no artifact %q", v.RunID, name)
		}
		path = a.Path
	}
	return s.file(r, v, path)
}

// serve gives bytes that are in memory.
func serve(r *rest.Request, data []byte, modified time.Time) error {
	sum := sha256.Sum256(data)
	r.W.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	http.ServeContent(r.W, r.Request, "", modified, bytes.NewReader(data))
	return nil
}

// file gives a file of the run's folder.
func (s service) file(r *rest.Request, v *runs.View, path string) error {
	folder, err := artifacts.Open(s.o.Store.Dir(v.RunID))
	if err != nil {
		return err
	}
	defer folder.Close()
	info, err := folder.Root().Lstat(path)
	if err == nil && !info.Mode().IsRegular() || errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.ArtifactNotFound, "the run no longer has the file")
	}
	if err != nil {
		return fault.New(fault.PathEscape, "the file is not in the run's folder").Because(err)
	}
	if info.Size() <= maxMasked {
		raw, err := folder.Read(path)
		if err != nil {
			return err
		}
		return serve(r, s.o.Mask(raw), info.ModTime())
	}
	f, err := folder.Root().Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.stream(r, f)
}

// stream gives a large file from the disk.
func (s service) stream(r *rest.Request, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum, clean, err := s.clean.look(f, info, s.o.Mask)
	if err != nil {
		return err
	}
	if !clean {
		return fault.New(fault.AccessDenied, "the file holds what looks like a secret, and is too large to be given without it").
			WithHint("Read it in slices with launch_get_artifact, which masks secrets.")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.W.Header().Set("ETag", `"`+sum+`"`)
	http.ServeContent(r.W, r.Request, "", info.ModTime(), f)
	return nil
}

// cleanFiles remembers which large files were looked through.
type cleanFiles struct {
	mu   sync.Mutex
	seen map[fileKey]lookedAt
}

// fileKey is a state of a file: a file that is written anew has another one.
type fileKey struct {
	name    string
	size    int64
	changed int64
}

type lookedAt struct {
	sum   string
	clean bool
}

const maxRemembered = 1000

func newCleanFiles() *cleanFiles { return &cleanFiles{seen: map[fileKey]lookedAt{}} }

// look returns the SHA-256 of a file and whether masking leaves it as it is.
func (c *cleanFiles) look(f *os.File, info fs.FileInfo, mask func([]byte) []byte) (sum string, clean bool, err error) {
	key := fileKey{f.Name(), info.Size(), info.ModTime().UnixNano()}
	c.mu.Lock()
	known, ok := c.seen[key]
	c.mu.Unlock()
	if ok {
		return known.sum, known.clean, nil
	}
	const piece, overlap = 1 << 20, 16 << 10 // no shape is longer than the overlap
	h := sha256.New()
	buf := make([]byte, 0, piece+overlap)
	known.clean = true
	for {
		from := len(buf)
		n, err := io.ReadFull(f, buf[from:cap(buf)])
		buf = buf[:from+n]
		h.Write(buf[from:])
		known.clean = known.clean && bytes.Equal(mask(buf), buf)
		if err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				return "", false, err
			}
			break
		}
		buf = append(buf[:0], buf[len(buf)-overlap:]...)
	}
	known.sum = hex.EncodeToString(h.Sum(nil))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= maxRemembered {
		clear(c.seen)
	}
	c.seen[key] = known
	return known.sum, known.clean, nil
}

// NextOffset is the header of logs that says where to read on.
const NextOffset = "Gantry-Next-Offset"

func (s service) logs(r *rest.Request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	from, err := r.Int("from", 0, 0, 1<<62)
	if err != nil {
		return err
	}
	data, next, err := s.o.Output(v.RunID, from)
	if err != nil {
		return err
	}
	if end := bytes.LastIndexByte(data, '\n') + 1; end > 0 && !v.State.Terminal() {
		next -= int64(len(data) - end) // a line is given whole, and masked whole
		data = data[:end]
	}
	data = s.o.Mask(data)
	h := r.W.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set(NextOffset, strconv.FormatInt(next, 10))
	h.Set("Content-Length", strconv.Itoa(len(data)))
	r.W.WriteHeader(http.StatusOK)
	_, _ = r.W.Write(data) // nobody is left to be told that the client is gone
	return nil
}
