package runs_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// populate creates n runs, several of which share each millisecond.
func populate(t testing.TB, s *runs.Store, now *clock, n int) []runs.ID {
	t.Helper()
	var ids []runs.ID
	for i := range n {
		if i%3 == 0 {
			now.pass(time.Millisecond)
		}
		r := request(runs.ID(fmt.Sprintf("run_%04d_%02d", (i*7919)%n, i)))
		r.Owner = []string{"", "alice", "bob"}[i%3]
		r.Root = []string{"one", "two"}[i%2]
		r.Labels = map[string]string{"product_slug": []string{"p", "q"}[i%2]}
		if i%4 == 0 {
			r.Once = &runs.Once{Key: fmt.Sprint("key ", i), Hash: "1"}
		}
		ids = append(ids, create(t, s, r))
	}
	return ids
}

func TestAListHasATotalOrderWhateverTheSizeOfItsPages(t *testing.T) {
	now := &clock{at: time.UnixMilli(1_700_000_000_000)}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	ids := populate(t, s, now, 31)
	whole := list(t, s, runs.Filter{Limit: 1000})
	if len(whole) != len(ids) {
		t.Fatalf("%d runs in the list, %d made", len(whole), len(ids))
	}
	if !slices.IsSortedFunc(whole, func(a, b runs.Summary) int {
		if c := b.CreatedAt.Compare(a.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(string(b.ID), string(a.ID))
	}) {
		t.Error("the list is not newest first with the id as tie-break")
	}
	for _, limit := range []int{-1, 0, 1, 2, 7, 30, 31, 32} {
		if diff := cmp.Diff(whole, list(t, s, runs.Filter{Limit: limit})); diff != "" {
			t.Errorf("in pages of %d: %s", limit, diff)
		}
	}

	// A run that is made while somebody turns the pages neither shifts nor repeats any.
	first, err := s.List(t.Context(), runs.Filter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	now.pass(time.Second)
	create(t, s, request(""))
	rest := list(t, s, runs.Filter{Limit: 10, Cursor: first.NextCursor})
	if diff := cmp.Diff(whole, append(first.Runs, rest...)); diff != "" {
		t.Error(diff)
	}
}

func TestAListIsRestrictedByItsFilter(t *testing.T) {
	now := &clock{at: time.UnixMilli(1_700_000_000_000)}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	ids := populate(t, s, now, 30)
	drive(t, s, ids[0], -1)
	alice, nobody := "alice", ""
	for name, c := range map[string]struct {
		filter runs.Filter
		want   func(i int) bool
	}{
		"everybody's":               {runs.Filter{}, func(int) bool { return true }},
		"hers and the local user's": {runs.Filter{Owner: &alice}, func(i int) bool { return i%3 != 2 }},
		"the local user's":          {runs.Filter{Owner: &nobody}, func(i int) bool { return i%3 == 0 }},
		"a root":                    {runs.Filter{Root: "two"}, func(i int) bool { return i%2 == 1 }},
		"a product and an owner":    {runs.Filter{Product: "p", Owner: &alice}, func(i int) bool { return i%2 == 0 && i%3 != 2 }},
		"a state":                   {runs.Filter{State: runs.StateDone}, func(i int) bool { return i == 0 }},
		"a kind":                    {runs.Filter{Kind: runs.Session}, func(int) bool { return false }},
	} {
		c.filter.Limit = 4
		var got, want []runs.ID
		for _, r := range list(t, s, c.filter) {
			got = append(got, r.ID)
		}
		for i, id := range ids {
			if c.want(i) {
				want = append(want, id)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestACursorBelongsToItsList(t *testing.T) {
	now := &clock{at: time.UnixMilli(1_700_000_000_000)}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	populate(t, s, now, 5)
	alice := "alice"
	page, err := s.List(t.Context(), runs.Filter{Limit: 2})
	if err != nil || page.NextCursor == "" {
		t.Fatal(page, err)
	}
	mine := page.NextCursor
	plain, _ := base64.RawURLEncoding.DecodeString(mine)
	for name, f := range map[string]runs.Filter{
		"another owner":   {Owner: &alice, Cursor: mine},
		"another root":    {Root: "one", Cursor: mine},
		"another state":   {State: runs.StateDone, Cursor: mine},
		"another product": {Product: "p", Cursor: mine},
		"another kind":    {Kind: runs.Launch, Cursor: mine},
		"garbage":         {Cursor: "garbage"},
		"not base64":      {Cursor: "%%%"},
		"10 KB":           {Cursor: strings.Repeat("A", 10<<10)},
		"cut":             {Cursor: mine[:len(mine)/2]},
		"no time":         {Cursor: base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(plain), ".1", ".x", 1)))},
		"a long one":      {Cursor: base64.RawURLEncoding.EncodeToString(append(plain, strings.Repeat("x", 10<<10)...))},
		"SQL":             {Cursor: base64.RawURLEncoding.EncodeToString(append(plain, "' OR 1=1 --"...))},
	} {
		f.Limit = 2
		if page, err := s.List(t.Context(), f); !fault.Is(err, fault.InvalidCursor) {
			t.Errorf("%s: %d runs, %v", name, len(page.Runs), err)
		}
	}
	if page, err := s.List(t.Context(), runs.Filter{Limit: 3, Cursor: mine}); err != nil || len(page.Runs) != 3 {
		t.Errorf("the list's own: %d runs, %v", len(page.Runs), err)
	}
}

func TestTheIndexCanBeDeletedAtAnyTime(t *testing.T) {
	remove := func(names ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}
	}
	for name, lose := range map[string]func(t *testing.T, dir string){
		"all of it":     remove("index.db", "index.db-wal", "index.db-shm"),
		"the main file": remove("index.db"),
		"overwritten": func(t *testing.T, dir string) {
			remove("index.db-wal", "index.db-shm")(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "new"), []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "index.db")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, inUse := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, in use %v", name, inUse), func(t *testing.T) {
				dir := t.TempDir()
				now := &clock{at: time.Now()}
				s := open(t, dir, runs.StoreOptions{Now: now.now})
				ids := populate(t, s, now, 12)
				drive(t, s, ids[3], -1)
				drive(t, s, ids[5], 4)
				want := list(t, s, runs.Filter{Limit: 5})
				unfinished, err := s.Unfinished(t.Context())
				if err != nil || len(unfinished) != 11 {
					t.Fatal(unfinished, err)
				}
				other := open(t, dir, runs.StoreOptions{})
				if !inUse {
					s.Close()
					s = open(t, dir, runs.StoreOptions{Now: now.now})
				} else {
					list(t, other, runs.Filter{})
				}
				lose(t, dir)
				for _, s := range []*runs.Store{s, other} {
					if diff := cmp.Diff(want, list(t, s, runs.Filter{Limit: 5})); diff != "" {
						t.Error(diff)
					}
				}
				if again, err := s.Unfinished(t.Context()); err != nil || !slices.Equal(again, unfinished) {
					t.Errorf("unfinished %v, %v", again, err)
				}
				r := request("")
				r.Owner, r.Once = "bob", &runs.Once{Key: "key 8", Hash: "1"}
				if id, created, err := s.Create(t.Context(), r); id != ids[8] || created || err != nil {
					t.Errorf("the key of %s gives %s, created %v, %v", ids[8], id, created, err)
				}
				fresh := create(t, s, request(""))
				if got := list(t, other, runs.Filter{Limit: 100}); len(got) != 13 || !slices.ContainsFunc(got, func(r runs.Summary) bool { return r.ID == fresh }) {
					t.Errorf("the other process sees %d runs", len(got))
				}
				drive(t, other, fresh, -1)
				newcomer := open(t, dir, runs.StoreOptions{})
				late := create(t, newcomer, request(""))
				for _, s := range []*runs.Store{s, other, newcomer} {
					if got := list(t, s, runs.Filter{Limit: 100}); len(got) != 14 || !slices.ContainsFunc(got, func(r runs.Summary) bool { return r.ID == late }) {
						t.Errorf("%d runs once somebody else has come", len(got))
					}
				}
			})
		}
	}
}

func TestAListDoesNotTrustStaleRows(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, dir, runs.StoreOptions{}), open(t, dir, runs.StoreOptions{})
	id := create(t, s, request(""))
	d, _, err := s.Drive(t.Context(), id) // and its process dies without another word
	if err != nil {
		t.Fatal(err)
	}
	for d.View().State != runs.StatePlanReady {
		if err := advance(d); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(t, other, runs.Filter{}); len(got) != 1 || got[0].State != runs.StatePlanReady {
		t.Errorf("listed: %+v", got)
	}
	if got := list(t, other, runs.Filter{State: runs.StateCreated}); len(got) != 0 {
		t.Errorf("listed as created: %+v", got)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone := create(t, s, request(""))
	if err := os.RemoveAll(s.Dir(gone)); err != nil {
		t.Fatal(err)
	}
	if got := list(t, open(t, dir, runs.StoreOptions{}), runs.Filter{}); len(got) != 1 || got[0].ID != id {
		t.Errorf("a folder that was removed is listed: %+v", got)
	}
}

func TestAListOfWhatEndedLatelyLeavesOutWhatGoesOnOrEndedBefore(t *testing.T) {
	now := &clock{at: time.UnixMilli(1_700_000_000_000)}
	s := open(t, t.TempDir(), runs.StoreOptions{Now: now.now})
	end := func(id runs.ID) {
		d, ok, err := s.Drive(t.Context(), id)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if err := d.Append(runs.Draft{Type: runs.RunStateChanged, Payload: runs.StateChange{OldState: d.View().State, NewState: runs.StateCancelled}}); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	long := create(t, s, request("run_long"))
	end(create(t, s, request("run_old1")))
	now.pass(time.Minute)
	before := now.now()
	now.pass(time.Minute)
	end(create(t, s, request("run_new1")))
	create(t, s, request("run_goes_on"))
	end(long)
	var got []runs.ID
	for _, r := range list(t, s, runs.Filter{Kind: runs.Launch, Ended: before, Limit: 1}) {
		got = append(got, r.ID)
	}
	if want := []runs.ID{"run_new1", "run_long"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
