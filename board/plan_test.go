package board

import (
	"strings"
	"testing"
)

func TestListsReadOnlyTheirPageByAnIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := TaskFilter{ProjectID: "p", Limit: 50}
	done := f
	done.Status = Done
	newest, args := f.query(after{})
	later, more := f.query(after{1, "x"})
	ofStatus, most := done.query(after{1, "x"})
	for query, args := range map[string][]any{
		newest: args, later: more, ofStatus: most, rowsAtWork: nil, idsOfHalfMade: nil, rowsOfTasks: {"[]"},
	} {
		plan := must(collect(t.Context(), w.b.db, func(s scanner) (detail string, err error) {
			var id, parent, unused int
			return detail, s.Scan(&id, &parent, &unused, &detail)
		}, "EXPLAIN QUERY PLAN "+query, args...))(t)
		for _, step := range plan {
			// An index that holds only the rows wanted is read as a whole.
			if strings.Contains(step, "SCAN") && !strings.Contains(step, "attempts_running") && !strings.Contains(step, "attempts_starting") && !strings.Contains(step, "json_each") ||
				strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n%s", query, strings.Join(plan, "\n"))
			}
		}
	}
}
