package outbox

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Lines are added while others are taken away, and the file with the last of them: each
// open has a lock of its own, as in different processes.
func TestNoLineIsLostBetweenAddingAndRemoving(t *testing.T) {
	b := box(filepath.Join(t.TempDir(), Name))
	const writers, each = 4, 150
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				if _, err := b.add([][]byte{fmt.Appendf(nil, "%d-%d", w, i)}, MaxBytes); err != nil {
					t.Error(err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { writing.Wait(); close(over) }()
	seen := map[string]bool{}
	for last := false; ; {
		lines, err := b.lines()
		if err != nil {
			t.Fatal(err)
		}
		done := map[string]bool{}
		for _, l := range lines {
			seen[string(l)], done[string(l)] = true, true
		}
		if err := b.remove(done); err != nil {
			t.Fatal(err)
		}
		if last {
			break
		}
		select {
		case <-over:
			last = true // what came since is read once more
		default:
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d lines of %d were seen", len(seen), writers*each)
	}
	if _, err := os.Lstat(string(b)); !os.IsNotExist(err) {
		t.Errorf("the empty outbox is there: %v", err)
	}
}

func TestALinkInPlaceOfAnOutboxIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "elsewhere")
	if err := os.WriteFile(target, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := box(filepath.Join(dir, Name))
	if err := os.Symlink(target, string(b)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.add([][]byte{[]byte("line")}, MaxBytes); err == nil {
		t.Error("it is written to")
	}
	if raw, _ := os.ReadFile(target); string(raw) != "x\n" {
		t.Errorf("%q", raw)
	}
}
