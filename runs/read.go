package runs

import (
	"container/list"
	"context"
	"iter"
	"os"
	"sync"

	"github.com/gantry-run/gantry/internal/journal"
)

// View returns the fold of all events of a run that are in its journal now. It is
// shared: do not change it. An unknown run is RUN_NOT_FOUND, a damaged journal
// EVENT_CHAIN_BROKEN. A view is kept, so that only what is new is read again.
func (s *Store) View(id ID) (*View, error) {
	v, _, err := s.viewAt(id)
	return v, err
}

func (s *Store) viewAt(id ID) (*View, journal.Head, error) {
	info, err := s.find(id)
	if err != nil {
		return nil, journal.Head{}, err
	}
	kept, head := s.views.get(id)
	if kept != nil && head.Size == info.Size() {
		return kept, head, nil
	}
	v := new(View)
	if kept != nil {
		v = kept.Clone()
	}
	for line, err := range journal.Read(s.disk, s.events(id), head) {
		if err == nil {
			err = applyLine(v, line)
		}
		if err != nil {
			s.views.drop(id)
			return nil, journal.Head{}, err
		}
		head = line.Head()
	}
	if v.RunID == "" {
		return nil, journal.Head{}, notFound(id)
	}
	s.views.put(id, v, head)
	return v, head, nil
}

func applyLine(v *View, line journal.Line) error {
	e, err := ParseEvent(line.Raw)
	if err != nil {
		return err
	}
	return v.Apply(e)
}

// Events yields the events of a run after a sequence number, in order.
func (s *Store) Events(id ID, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if _, err := s.find(id); err != nil {
			yield(Event{}, err)
			return
		}
		for line, err := range journal.Read(s.disk, s.events(id), journal.Head{}) {
			switch {
			case err != nil:
				yield(Event{}, err)
				return
			case line.Seq <= after:
				continue
			}
			if e, err := ParseEvent(line.Raw); !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Watch yields the events of a run after a sequence number as they come, from
// whichever process, until ctx ends or the run is over and all is told.
func (s *Store) Watch(ctx context.Context, id ID, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var head journal.Head
		over := false
		for {
			changed := s.hub.changed(id)
			if _, err := s.find(id); err != nil {
				yield(Event{}, err)
				return
			}
			for line, err := range journal.Read(s.disk, s.events(id), head) {
				var e Event
				if err == nil {
					head = line.Head()
					e, err = ParseEvent(line.Raw)
				}
				if err != nil {
					yield(Event{}, err)
					return
				}
				over = overAfter(e, over)
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
			if over || s.wait(ctx, changed) != nil {
				return
			}
		}
	}
}

// overAfter reports whether a run is over after the event, given what it was before.
func overAfter(e Event, before bool) bool {
	switch e.Type {
	case RunStateChanged:
		over := before
		_ = with(e, func(c StateChange) error { over = c.NewState.Terminal(); return nil })
		return over
	case ResumeRewind:
		return false
	}
	return before
}

// Until returns the first view of the run that is enough, waiting for it. What it
// shows is durable: lines of another process may be seen before they are flushed, so
// Until flushes them. It fails when ctx ends.
func (s *Store) Until(ctx context.Context, id ID, enough func(*View) bool) (*View, error) {
	for {
		changed := s.hub.changed(id)
		v, err := s.View(id)
		if err != nil {
			return nil, err
		}
		if enough(v) {
			return v, s.flush(v)
		}
		if err := s.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

func (s *Store) flush(v *View) error {
	if !v.Kind.Durable() {
		return nil
	}
	f, err := s.disk.OpenFile(s.events(v.RunID), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Verify checks the whole chain of a run's journal against itself and against the
// heads that its snapshot and the index remember.
func (s *Store) Verify(ctx context.Context, id ID) (journal.Report, error) {
	if _, err := s.find(id); err != nil {
		return journal.Report{}, err
	}
	return journal.Verify(s.disk, s.events(id), s.known(ctx, id)...)
}

// known returns the heads of the run's journal that are remembered elsewhere.
func (s *Store) known(ctx context.Context, id ID) []journal.Head {
	var out []journal.Head
	if h, ok := s.snapshotHead(id); ok {
		out = append(out, h)
	}
	if h, ok := s.index.head(ctx, id); ok {
		out = append(out, h)
	}
	return out
}

// viewCache keeps the views of the runs that were looked at last.
type viewCache struct {
	mu    sync.Mutex
	byID  map[ID]*list.Element
	order *list.List // most recent first
}

type viewEntry struct {
	id   ID
	view *View
	head journal.Head
}

const keptViews = 256

func (c *viewCache) init() { c.byID, c.order = map[ID]*list.Element{}, list.New() }

func (c *viewCache) get(id ID) (*View, journal.Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byID[id]
	if !ok {
		return nil, journal.Head{}
	}
	c.order.MoveToFront(e)
	entry := e.Value.(viewEntry)
	return entry.view, entry.head
}

// put keeps the view unless a newer one is kept already.
func (c *viewCache) put(id ID, v *View, head journal.Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[id]; ok {
		if e.Value.(viewEntry).head.Seq < head.Seq {
			e.Value = viewEntry{id, v, head}
		}
		c.order.MoveToFront(e)
		return
	}
	c.byID[id] = c.order.PushFront(viewEntry{id, v, head})
	if c.order.Len() > keptViews {
		oldest := c.order.Back()
		delete(c.byID, c.order.Remove(oldest).(viewEntry).id)
	}
}

func (c *viewCache) drop(id ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[id]; ok {
		c.order.Remove(e)
		delete(c.byID, id)
	}
}
