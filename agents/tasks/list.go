package tasks

import (
	"context"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/agents/taskstore"
	"github.com/gantry-run/gantry/internal/fault"
)

// Filter says which tasks to list.
type Filter struct {
	Owner    string
	States   []taskstore.State // empty: all
	Archived bool              // archived ones too
	Limit    int
	Cursor   string // Next of the page before
}

// Page is a piece of the list: sessions, those that began last first, and behind them the
// tasks of other programs, those that changed last first.
type Page struct {
	Tasks []Task
	Next  string // Cursor of the next page; empty at the end
}

// A cursor is in one of the two parts of the list.
const (
	inSessions = "s."
	inStore    = "f."
)

// maxScanned is how many sessions are looked at for one page at most.
const maxScanned = 500

func (f Filter) takes(s taskstore.State) bool {
	if len(f.States) > 0 {
		return slices.Contains(f.States, s) && (s != taskstore.Archived || f.Archived || slices.Contains(f.States, taskstore.Archived))
	}
	return s != taskstore.Archived || f.Archived
}

// List returns a page of tasks. A cursor of another list is INVALID_CURSOR.
func (t *Tasks) List(ctx context.Context, f Filter) (Page, error) {
	out := Page{Tasks: []Task{}}
	after, foreign := strings.CutPrefix(f.Cursor, inStore)
	if f.Cursor == "" || !foreign {
		next, known := strings.CutPrefix(f.Cursor, inSessions)
		if f.Cursor != "" && !known {
			return Page{}, fault.New(fault.InvalidCursor, "the cursor does not belong to this list")
		}
		after = ""
		for scanned := 0; ; {
			page, err := t.o.Sessions.List(ctx, sessions.Filter{Owner: f.Owner, Limit: f.Limit - len(out.Tasks), Cursor: next})
			if err != nil {
				return Page{}, err
			}
			for _, s := range page.Sessions {
				if one := fromSession(s); f.takes(one.State) {
					out.Tasks = append(out.Tasks, one)
				}
			}
			scanned += len(page.Sessions)
			if next = page.Next; next == "" {
				break
			}
			if len(out.Tasks) >= f.Limit || scanned >= maxScanned {
				out.Next = inSessions + next
				return out, nil
			}
		}
	}
	return t.listForeign(f, after, out)
}

// listForeign adds tasks of other programs, those behind one.
func (t *Tasks) listForeign(f Filter, after string, out Page) (Page, error) {
	all, err := t.store.List(f.Archived || slices.Contains(f.States, taskstore.Archived))
	if err != nil {
		return Page{}, err
	}
	all = slices.DeleteFunc(all, func(one taskstore.Found) bool {
		return !f.takes(one.State) || t.o.Sessions.Knows(one.ID) || t.ours(one.ID)
	})
	if after != "" {
		i := slices.IndexFunc(all, func(one taskstore.Found) bool { return one.ID == after })
		if i < 0 {
			return Page{}, fault.New(fault.InvalidCursor, "the task that the list was at is not there any more")
		}
		all = all[i+1:]
	}
	for _, one := range all {
		if len(out.Tasks) >= f.Limit {
			last := out.Tasks[len(out.Tasks)-1]
			out.Next = inStore
			if last.Session == "" {
				out.Next += last.ID
			}
			return out, nil
		}
		out.Tasks = append(out.Tasks, fromStore(one))
	}
	return out, nil
}

// ours reports whether a task of the store is a session whose agent never named it.
func (t *Tasks) ours(id string) bool { return t.o.Sessions.Is(id) }
