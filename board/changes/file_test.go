package changes

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestAFileIsReadInPieces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api")
	text := strings.Repeat("aé日🙂\n", 20)
	if err := os.WriteFile(filepath.Join(w.dir, "tree/api/text"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, max := range []int{4, 5, 7, 1000} {
		var got strings.Builder
		for start := int64(0); ; {
			f := w.file(FileRequest{Path: "api/text", Start: start, MaxBytes: max})
			got.WriteString(f.Text)
			if f.Size != int64(len(text)) || f.Blocked || f.Start != start || f.Bytes > max {
				t.Fatalf("%+v", f)
			}
			if start += int64(f.Bytes); !f.Truncated {
				break
			}
		}
		if got.String() != text {
			t.Errorf("by %d bytes: %q", max, got.String())
		}
	}
	for _, start := range []int64{int64(len(text)), int64(len(text)) + 1, math.MaxInt64} {
		if f := w.file(FileRequest{Path: "api/text", Start: start}); f.Text != "" || f.Truncated || f.Blocked || f.Bytes != 0 {
			t.Errorf("from %d: %+v", start, f)
		}
	}
	w.in("api", `printf 'x\377\376\0y' >bin; head -c 600000 /dev/zero >zeros; : >empty`)
	if f := w.file(FileRequest{Path: "api/bin"}); f.Text != "x\uFFFD\x00y" || f.Bytes != 5 || f.Truncated {
		t.Errorf("%+v", f)
	}
	if f := w.file(FileRequest{Path: "api/bin", Start: 1, MaxBytes: 1}); f.Bytes != 1 || !f.Truncated {
		t.Errorf("a byte that is no character: %+v", f)
	}
	if f := w.file(FileRequest{Path: "api/zeros"}); f.Bytes != DefaultFile || !f.Truncated {
		t.Errorf("by default %d bytes", f.Bytes)
	}
	if f := w.file(FileRequest{Path: "api/zeros", MaxBytes: MaxFile}); f.Bytes != MaxFile || !f.Truncated {
		t.Errorf("at most %d bytes", f.Bytes)
	}
	if f := w.file(FileRequest{Path: "api/zeros", MaxBytes: MaxFile + 1}); !f.Blocked || f.Reason != SizeExceeded || f.Text != "" {
		t.Errorf("more: %+v", f.Reason)
	}
	if f := w.file(FileRequest{Path: "api/empty"}); f.Text != "" || f.Truncated || f.Blocked {
		t.Errorf("%+v", f)
	}
}

func TestAFileOutsideIsNeverRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api")
	w.sh(w.dir, "echo secret >secret; mkdir tree/api-evil; echo secret >tree/api-evil/key; ln -s ../../secret tree/api/up; ln -s "+w.dir+"/secret tree/api/abs; ln -s ../.. tree/api/dir; ln -s README tree/api/inside; ln -s loop tree/api/loop; ln -s "+w.dir+"/tree/api/README tree/api/absinside")
	for _, path := range []string{
		"api/up", "api/abs", "api/dir/secret", "api/../api-evil/key", "api/../../secret", "api/a/../../../secret", "../secret", "api//etc/passwd",
		"/etc/passwd", w.dir + "/secret", "README", "api", "api/", "", ".", "..", "api-evil/key", "api/.git", "api/.GIT", "api/.git/config", "api/x\x00y",
		"api/absinside", "api/..", "file:///etc/passwd", "%2e%2e%2fetc%2fpasswd",
	} {
		if f := w.file(FileRequest{Path: path}); !f.Blocked || f.Reason != PathOutsideWorkspace || f.Text != "" {
			t.Errorf("%q: %+v", path, f)
		}
	}
	if f := w.file(FileRequest{Path: "api/inside"}); f.Text != "api\n" {
		t.Errorf("a link that stays inside: %+v", f)
	}
	w.in("api", "mkfifo pipe; mkdir folder")
	for _, path := range []string{
		"api/none", "api/README/x", "api/pipe", "api/folder", "api/.", "api/．．/etc", "api/" + strings.Repeat("n", 300), "api/" + strings.Repeat("a/", 3000) + "x",
		"api/%2e%2e/%2e%2e/secret", "api/..%c0%af",
	} {
		if f, err := w.r.File(t.Context(), w.trees, FileRequest{Path: path}); !fault.Is(err, fault.InvalidInput) || len(err.Error()) > 256 || strings.Contains(err.Error(), w.dir) {
			t.Errorf("%.40q: %+v %v", path, f, err)
		}
	}
	// A loop of links leads nowhere; which of the two answers it gets is the system's.
	if f, err := w.r.File(t.Context(), w.trees, FileRequest{Path: "api/loop"}); !f.Blocked && !fault.Is(err, fault.InvalidInput) || f.Text != "" {
		t.Errorf("%+v %v", f, err)
	}
	for _, q := range []FileRequest{{Path: "api/README", Start: -1}, {Path: "api/README", MaxBytes: -1}} {
		if _, err := w.r.File(t.Context(), w.trees, q); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestALinkThatIsSwappedWhileItIsReadNeverLeadsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "true", "api")
	w.sh(w.dir, "echo secret >secret")
	done := make(chan struct{})
	stopped := make(chan struct{})
	path := filepath.Join(w.dir, "tree/api/swap")
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			next := path + ".next"
			if i%2 == 0 {
				os.Symlink("../../secret", next)
			} else {
				os.WriteFile(next, []byte("inside"), 0o600)
			}
			os.Rename(next, path)
		}
	}()
	for range 3000 {
		if f, err := w.r.File(t.Context(), w.trees, FileRequest{Path: "api/swap"}); err == nil && strings.Contains(f.Text, "secret") {
			t.Fatal("it led out")
		}
	}
	close(done)
	<-stopped
}
