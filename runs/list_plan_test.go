package runs

import (
	"strings"
	"testing"
	"time"
)

// A page costs what is on it, however many runs there are: none is sorted to find it.
func TestAPageIsReadInTheOrderOfAnIndex(t *testing.T) {
	s, err := OpenStore(t.TempDir(), StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	conn, err := s.index.complete(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	anybody := ""
	for name, f := range map[string]Filter{
		"all": {}, "kind": {Kind: Launch}, "root": {Kind: Launch, Root: "r", Owner: &anybody},
		"state and product": {Kind: Launch, State: StateDone, Product: "p"},
	} {
		first := f
		for _, f := range []Filter{first, {Kind: f.Kind, State: f.State, Product: f.Product, Root: f.Root, Owner: f.Owner,
			Cursor: first.cursorAfter(Summary{ID: "run_12345678", CreatedAt: time.UnixMilli(1)})}} {
			where, args, err := f.where()
			if err != nil {
				t.Fatal(err)
			}
			rows, err := conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+selectPage(where), append(args, 50)...)
			if err != nil {
				t.Fatal(err)
			}
			var plan []string
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, detail)
			}
			rows.Close()
			if all := strings.Join(plan, "; "); !strings.Contains(all, "runs_newest") || strings.Contains(all, "TEMP B-TREE") {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
}
