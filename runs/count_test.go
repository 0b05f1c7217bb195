package runs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/runs"
)

func TestRunsAreCountedByKindAndState(t *testing.T) {
	now := &clock{at: time.UnixMilli(1_700_000_000_000)}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	ids := populate(t, s, now, 5)
	drive(t, s, ids[0], -1)
	got, err := s.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kind := request("run_x").Kind
	v, err := s.View(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := s.View(ids[1])
	if err != nil {
		t.Fatal(err)
	}
	want := map[runs.Count]bool{
		{Kind: kind, State: fresh.State, Busy: true, Runs: 4}: true,
		{Kind: kind, State: v.State, Busy: v.Busy(), Runs: 1}: true,
	}
	for _, c := range got {
		if !want[c] {
			t.Errorf("%+v, want %v", c, want)
		}
		delete(want, c)
	}
	if len(want) != 0 {
		t.Errorf("not counted: %v in %v", want, got)
	}
}

func TestAppendsAreTimed(t *testing.T) {
	s := open(t, t.TempDir(), runs.StoreOptions{})
	if got := s.Appends(); len(got) != 0 {
		t.Fatalf("before any: %v", got)
	}
	id := create(t, s, request("run_timed_1"))
	drive(t, s, id, -1)
	got := s.Appends()
	if len(got) != 1 || got[0].Kind != request("run_timed_1").Kind || got[0].Count == 0 || got[0].Sum <= 0 || len(got[0].Buckets) != len(runs.AppendBounds())+1 {
		t.Fatalf("%+v", got)
	}
	sum := uint64(0)
	for _, n := range got[0].Buckets {
		sum += n
	}
	if sum != got[0].Count {
		t.Errorf("%d in buckets of %d", sum, got[0].Count)
	}
	got[0].Buckets[0] += 1000
	if cmp.Equal(got, s.Appends()) {
		t.Error("what is read is shared")
	}
}
