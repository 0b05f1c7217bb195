package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
)

// Get returns a session, or SESSION_NOT_FOUND.
func (s *Sessions) Get(owner string, id runs.ID) (Session, error) {
	v, err := s.view(owner, id)
	if err != nil {
		return Session{}, err
	}
	return s.session(v)
}

// Find returns the session that is called so: by its id, or by what its CLI calls, or has
// called, the conversation. There may be none: SESSION_NOT_FOUND.
func (s *Sessions) Find(owner, name string) (Session, error) {
	if runs.IsUUID(name) {
		out, err := s.Get(owner, runs.ID(name))
		if !fault.Is(err, fault.SessionNotFound) {
			return out, err
		}
	}
	id, err := s.o.linked(name)
	if err != nil {
		return Session{}, err
	}
	return s.Get(owner, id)
}

// Turns returns the turns of a session in their order.
func (s *Sessions) Turns(owner string, id runs.ID) ([]Turn, error) {
	v, err := s.view(owner, id)
	if err != nil {
		return nil, err
	}
	in, err := inputOf(v)
	if err != nil {
		return nil, err
	}
	var out []Turn
	for _, w := range turns(v) {
		t, err := turnOf(v, in, w)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Wait returns the session when enough is true of it, or fails when ctx ends.
func (s *Sessions) Wait(ctx context.Context, owner string, id runs.ID, enough func(Session) bool) (Session, error) {
	if _, err := s.view(owner, id); err != nil {
		return Session{}, err
	}
	var out Session
	var failed error
	_, err := s.o.Store.Until(ctx, id, func(v *runs.View) bool {
		out, failed = s.session(v)
		return failed != nil || enough(out)
	})
	return out, errors.Join(err, failed)
}

// Filter says which sessions to list. Empty fields do not restrict.
type Filter struct {
	Owner  string
	State  State
	Limit  int    // 1 when it is less
	Cursor string // Next of the page before
}

// Page is a piece of the list of sessions, those that began last first. It has fewer
// than Limit when sessions change meanwhile.
type Page struct {
	Sessions []Session
	Next     string // Cursor of the next page; empty at the end
}

// List returns a page of sessions. A cursor of another list is INVALID_CURSOR.
func (s *Sessions) List(ctx context.Context, f Filter) (Page, error) {
	q := runs.Filter{Kind: runs.Session, Owner: &f.Owner, Limit: f.Limit, Cursor: f.Cursor}
	switch f.State {
	case Running:
		q.State = runs.StateRunning
	case "":
	default:
		q.State = runs.State(f.State)
	}
	page, err := s.o.Store.List(ctx, q)
	if err != nil {
		return Page{}, err
	}
	out := Page{Next: page.NextCursor}
	for _, r := range page.Runs {
		v, err := s.o.Store.View(r.ID)
		if err != nil {
			s.o.Log.Warn("a session cannot be read", "run_id", string(r.ID), "error", err.Error())
			continue // it hides itself and no other
		}
		one, err := s.session(v)
		if err != nil {
			return Page{}, err
		}
		out.Sessions = append(out.Sessions, one)
	}
	return out, nil
}

// Started returns the session that an idempotency key has made, if it made one.
func (s *Sessions) Started(ctx context.Context, a Ask) (Session, bool, error) {
	if a.Once == nil {
		return Session{}, false, nil
	}
	id, found, err := s.o.Store.Started(ctx, a.Owner, *a.Once)
	if err != nil || !found {
		return Session{}, false, err
	}
	out, err := s.Get(a.Owner, id)
	return out, err == nil, err
}

// Knows reports whether a conversation is a session, whoever may see it.
func (s *Sessions) Knows(thread string) bool {
	_, err := s.o.linked(thread)
	return err == nil
}

// Is reports whether there is a session of that id, whoever may see it.
func (s *Sessions) Is(id string) bool {
	if !runs.IsUUID(id) {
		return false
	}
	v, err := s.o.Store.View(runs.ID(id))
	return err == nil && v.Kind == runs.Session
}

// Adopted returns the id of the session that goes on with a conversation that Gantry did
// not start. It is always the same one.
func Adopted(thread string) runs.ID {
	sum := sha256.Sum256([]byte("adopted " + thread))
	return runs.ID(TurnID(runs.ID(hex.EncodeToString(sum[:16])), 0))
}

// linkPath returns the file that says which session a conversation is.
func (o Options) linkPath(thread string) string {
	sum := sha256.Sum256([]byte(thread))
	return filepath.Join(o.Dir, ".threads", hex.EncodeToString(sum[:16]))
}

// link notes which session a conversation is. The newest note counts.
func (o Options) link(thread string, id runs.ID) error {
	path := o.linkPath(thread)
	if known, err := os.ReadFile(path); err == nil && string(known) == string(id) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return journal.WriteFileAtomic(journal.Disk{}, path, []byte(id))
}

// linked returns the session that a conversation is, or SESSION_NOT_FOUND.
func (o Options) linked(thread string) (runs.ID, error) {
	id, err := os.ReadFile(o.linkPath(thread))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !runs.ID(id).Valid() {
		return "", notFound(thread)
	}
	return runs.ID(id), err
}
