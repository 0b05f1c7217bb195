package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyHistoryReadsBackAsWritten drives a journal through appends, kills and torn
// writes next to a plain list of what it should hold.
func TestAnyHistoryReadsBackAsWritten(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		path := filepath.Join(dir, "j", "events")
		os.RemoveAll(filepath.Dir(path))
		os.Mkdir(filepath.Dir(path), 0o700)
		j, err := Create(hastyDisk{}, path)
		if err != nil {
			t.Fatal(err)
		}
		var want []Line
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				var bodies [][]byte
				for _, text := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts") {
					b, _ := json.Marshal(map[string]string{"event_id": text})
					bodies = append(bodies, b)
				}
				before := j.Head()
				head, lines, err := j.Append(false, bodies...)
				if err != nil || len(lines) != len(bodies) || head.Seq != before.Seq+int64(len(lines)) || head != j.Head() {
					t.Fatalf("Append: %+v %v", head, err)
				}
				want = append(want, lines...)
			},
			"reopen": func(t *rapid.T) {
				tail := []byte(rapid.StringMatching(`[a-z{"]{0,20}`).Draw(t, "torn"))
				j.Close()
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Fatal(err)
				}
				f.Write(tail)
				f.Close()
				var repair Repair
				if j, repair, err = Open(hastyDisk{}, path, nil); err != nil {
					t.Fatal(err)
				}
				if repair.CutBytes != int64(len(tail)) || repair.AfterSeq != int64(len(want)) {
					t.Fatalf("%+v", repair)
				}
			},
			"": func(t *rapid.T) {
				from := rapid.IntRange(0, len(want)).Draw(t, "from")
				var head Head
				if from > 0 {
					head = want[from-1].Head()
				}
				i := from
				for got, err := range Read(hastyDisk{}, path, head) {
					if err != nil {
						t.Fatal(err)
					}
					if i >= len(want) || got.Head() != want[i].Head() || !bytes.Equal(got.Raw, want[i].Raw) {
						t.Fatalf("line %d is %s", i, got.Raw)
					}
					i++
				}
				if i != len(want) {
					t.Fatalf("%d lines, want %d", i, len(want))
				}
			},
		})
		j.Close()
	})
	if runs < 2 {
		t.Error("no history was tried")
	}
}
