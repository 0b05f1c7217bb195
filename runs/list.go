package runs

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Filter says which runs to list. Empty fields do not restrict.
type Filter struct {
	Kind    Kind
	State   State
	Product string
	Root    string
	Owner   *string   // whose view: see [Sees]; nil: everybody's
	Ended   time.Time // only runs that are over and ended after this; zero: any
	Limit   int       // 1 when it is less
	Cursor  string    // NextCursor of the page before
}

// Summary is a run in a list.
type Summary struct {
	ID         ID
	Kind       Kind
	Product    string
	State      State
	CreatedAt  time.Time
	FinishedAt *time.Time
}

// Page is a piece of a list, newest first, the id as tie-break.
type Page struct {
	Runs       []Summary
	NextCursor string // empty at the end
}

// List returns a page of runs, which has fewer than Limit when the state of one has
// changed since the index was told. A cursor that List did not make for the same
// filter is INVALID_CURSOR.
func (s *Store) List(ctx context.Context, f Filter) (Page, error) {
	f.Limit = max(1, f.Limit)
	where, args, err := f.where()
	if err != nil {
		return Page{}, err
	}
	conn, err := s.index.complete(ctx)
	if err != nil {
		return Page{}, err
	}
	rows, err := conn.QueryContext(ctx, selectPage(where), append(args, f.Limit+1)...)
	if err != nil {
		return Page{}, err
	}
	defer rows.Close()
	var out Page
	var last Summary // whose row was read last
	for n := 0; rows.Next(); n++ {
		var r Summary
		var created, size int64
		var finished *int64
		if err := rows.Scan(&r.ID, &r.Kind, &r.Product, &r.State, &created, &finished, &size); err != nil {
			return Page{}, err
		}
		r.CreatedAt = time.UnixMilli(created).UTC()
		if finished != nil {
			at := time.UnixMilli(*finished).UTC()
			r.FinishedAt = &at
		}
		if n == f.Limit {
			out.NextCursor = f.cursorAfter(last)
			break
		}
		last = r
		if r = s.fresh(r, size); f.State == "" || r.State == f.State {
			out.Runs = append(out.Runs, r)
		}
	}
	return out, rows.Err()
}

func selectPage(where string) string {
	return `SELECT run_id, kind, product, state, created_at, finished_at, size FROM runs` + where +
		` ORDER BY created_at DESC, run_id DESC LIMIT ?`
}

// fresh looks an unfinished run up in its journal when that has grown since its
// row was written, as it has when a process died.
func (s *Store) fresh(r Summary, size int64) Summary {
	if r.State.Terminal() {
		return r
	}
	if info, err := os.Stat(s.events(r.ID)); err != nil || info.Size() == size {
		return r
	}
	if v, err := s.View(r.ID); err == nil {
		r.State, r.FinishedAt = v.State, v.FinishedAt
	}
	return r
}

// column keeps SQLite from choosing an index by the column, unless little is left by the
// time at which runs ended: it would read and sort all runs of a kind for one page,
// instead of the page in the order of runs_newest.
func (f Filter) column(name string) string {
	if f.Ended.IsZero() {
		return "+" + name
	}
	return name
}

func (f Filter) where() (string, []any, error) {
	var cond []string
	var args []any
	add := func(sql string, values ...any) {
		cond = append(cond, sql)
		args = append(args, values...)
	}
	for _, eq := range []struct{ column, value string }{
		{"kind", string(f.Kind)}, {"state", string(f.State)}, {"product", f.Product}, {"root", f.Root},
	} {
		if eq.value != "" {
			add(f.column(eq.column)+" = ?", eq.value)
		}
	}
	if f.Owner != nil {
		own, local := seen(*f.Owner)
		add("owner IN (?, ?)", own, local)
	}
	if !f.Ended.IsZero() {
		add("finished_at > ?", f.Ended.UnixMilli())
	}
	if f.Cursor != "" {
		at, id, err := f.parseCursor()
		if err != nil {
			return "", nil, err
		}
		add("(created_at, run_id) < (?, ?)", at, id)
	}
	if len(cond) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(cond, " AND "), args, nil
}

// A cursor is bound to its filter, so that it cannot be carried to another.
func (f Filter) cursorAfter(r Summary) string {
	plain := fmt.Sprintf("%s.%d.%s", f.fingerprint(), r.CreatedAt.UnixMilli(), r.ID)
	return base64.RawURLEncoding.EncodeToString([]byte(plain))
}

func (f Filter) parseCursor() (at int64, id string, err error) {
	plain, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	parts := strings.SplitN(string(plain), ".", 3)
	if err == nil && len(parts) == 3 && parts[0] == f.fingerprint() && ID(parts[2]).Valid() {
		if at, err = strconv.ParseInt(parts[1], 10, 64); err == nil {
			return at, parts[2], nil
		}
	}
	return 0, "", fault.New(fault.InvalidCursor, "the cursor does not belong to this list")
}

func (f Filter) fingerprint() string {
	owner := "*"
	if f.Owner != nil {
		owner = *f.Owner
	}
	ended := ""
	if !f.Ended.IsZero() {
		ended = strconv.FormatInt(f.Ended.UnixMilli(), 10)
	}
	return digest("list", string(f.Kind), string(f.State), f.Product, f.Root, owner, ended)[:12]
}

// Unfinished returns the runs that have something to do or a command waiting,
// whether somebody drives them or not, oldest id first.
func (s *Store) Unfinished(ctx context.Context) ([]ID, error) {
	conn, err := s.index.complete(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, `SELECT run_id FROM runs WHERE busy = 1 ORDER BY run_id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []ID
	for rows.Next() {
		var id ID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
