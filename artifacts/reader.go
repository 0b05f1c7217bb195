package artifacts

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"
)

// What a Reader keeps: files up to CacheMax bytes, for CacheLife, at most
// cacheTotal bytes of them.
const (
	CacheMax   = 1 << 20
	CacheLife  = 60 * time.Second
	cacheTotal = 16 << 20
)

// Reader reads slices of artifacts. It may be used concurrently.
type Reader struct {
	now func() time.Time

	mu    sync.Mutex
	kept  map[string]cached // by sha256
	bytes int64
}

type cached struct {
	data []byte
	till time.Time
}

// NewReader returns a Reader that tells the time by now.
func NewReader(now func() time.Time) *Reader {
	return &Reader{now: now, kept: map[string]cached{}}
}

// Slice returns at most limit bytes of the artifact from offset on. dir is the
// run's folder. A large file is read in slices from the disk and never held whole.
func (r *Reader) Slice(dir string, a Info, offset, limit int64) ([]byte, error) {
	if data, ok := r.recall(a.SHA256); ok {
		return cut(data, offset, limit), nil
	}
	folder, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if a.Size > CacheMax {
		data, _, err := folder.Slice(a.Path, offset, limit)
		return data, err
	}
	data, _, err := folder.Slice(a.Path, 0, CacheMax)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) == a.SHA256 { // else it was written anew since
		r.keep(a.SHA256, data)
	}
	return cut(data, offset, limit), nil
}

func cut(data []byte, offset, limit int64) []byte {
	size := int64(len(data))
	from := min(offset, size)
	return data[from:min(size, from+limit)]
}

func (r *Reader) recall(sha string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.kept[sha]
	return c.data, ok && r.now().Before(c.till)
}

func (r *Reader) keep(sha string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for k, c := range r.kept {
		if k == sha || !now.Before(c.till) || r.bytes+int64(len(data)) > cacheTotal {
			r.bytes -= int64(len(c.data))
			delete(r.kept, k)
		}
	}
	r.kept[sha] = cached{data, now.Add(CacheLife)}
	r.bytes += int64(len(data))
}
