package runs_test

import (
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

func TestUUIDsAreOfVersion7AndSortByTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	last := ""
	for i := range 50 {
		id := runs.NewUUID(at.Add(time.Duration(i) * time.Millisecond))
		if !runs.IsUUID(id) || !runs.ID(id).Valid() || id[14] != '7' || id <= last {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
	if runs.IsUUID("") || runs.IsUUID(last+"0") || runs.IsUUID("r_20260102t030405z_abcdefgh") {
		t.Error("what is no UUID passes")
	}
}
