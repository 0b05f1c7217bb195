package runs

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/internal/journal"
)

// Drive is the right to execute a run: it holds the run's drive lock and its
// journal, and knows its view. It is used by one goroutine at a time.
type Drive struct {
	store   *Store
	id      ID
	journal *journal.Journal
	view    *View
	release func()
	indexed time.Time
}

// Drive takes the run's drive lock, repairs the tail of its journal and folds it.
// ok is false when somebody else drives the run. A damaged journal is
// EVENT_CHAIN_BROKEN: the run is left alone.
func (s *Store) Drive(ctx context.Context, id ID) (d *Drive, ok bool, err error) {
	release, ok, err := s.TryDrive(id)
	if err != nil || !ok {
		return nil, false, err
	}
	d = &Drive{store: s, id: id, view: new(View), release: release}
	j, repair, err := journal.Open(s.disk, s.events(id), func(l journal.Line) error { return applyLine(d.view, l) }, s.known(ctx, id)...)
	if err != nil {
		release()
		return nil, false, err
	}
	d.journal = j
	if repair.CutBytes > 0 {
		err = d.Append(Draft{Type: JournalRepaired, Payload: Repaired{CutBytes: repair.CutBytes, AfterSeq: repair.AfterSeq}})
	}
	if err != nil {
		d.Close(ctx)
		return nil, false, err
	}
	return d, true, nil
}

// View returns the run's view. It changes with every Append; do not change it.
func (d *Drive) View() *View { return d.view }

// Append writes events. When it returns, they are durable, unless all of them
// report progress or the kind of run promises nothing. After an error the drive
// is of no more use: close it.
func (d *Drive) Append(drafts ...Draft) error {
	bodies := make([][]byte, len(drafts))
	durable := false
	for i, draft := range drafts {
		e, err := NewEvent(d.id, draft, d.store.now())
		if err != nil {
			return err
		}
		if bodies[i], err = e.Body(); err != nil {
			return err
		}
		durable = durable || !draft.Type.progress()
	}
	_, lines, err := d.journal.Append(durable && d.kind().Durable(), bodies...)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := applyLine(d.view, l); err != nil {
			return err
		}
	}
	d.store.hub.notify(d.id)
	return nil
}

func (d *Drive) kind() Kind { return d.view.Kind }

// progress reports whether the event only tells how things are going.
func (t EventType) progress() bool {
	return t == WorkItemStarted || t == GateRunStarted || t == GateRunFinished
}

// Collect moves the commands that wait in the run's folder into its journal. A
// command whose id is in the journal is dropped. It reports whether one of them is
// a cancel.
func (d *Drive) Collect() (cancel bool, err error) {
	commands, discard, err := d.store.Letters(d.id)
	if err != nil || len(commands) == 0 {
		return false, err
	}
	for _, c := range commands {
		if _, known := d.view.Command(c.ID); known {
			continue
		}
		if err := d.Append(Draft{Type: CommandReceived, Payload: c}); err != nil {
			return false, err
		}
		cancel = cancel || c.Type == Cancel
	}
	return cancel, discard()
}

// Settle writes what the planner wants written, as few flushes as possible, and
// returns its next decision that is not a write.
func (d *Drive) Settle() (Decision, error) {
	for {
		drafts, next := foresee(d.view)
		if len(drafts) == 0 {
			return next, nil
		}
		if err := d.Append(drafts...); err != nil {
			return Decision{}, err
		}
	}
}

// foresee collects what consecutive decisions write, so that one flush carries it.
func foresee(v *View) ([]Draft, Decision) {
	next := Next(v)
	if len(next.Write) == 0 {
		return nil, next
	}
	var out []Draft
	ahead := v.Clone()
	for len(next.Write) > 0 {
		for _, draft := range next.Write {
			payload, err := json.Marshal(draft.Payload)
			if err != nil {
				return out, next
			}
			e := Event{Seq: ahead.Seq + 1, RunID: v.RunID, Type: draft.Type, Payload: payload, TS: v.UpdatedAt}
			if ahead.Apply(e) != nil {
				return append(out, draft), next // Append tells the error
			}
			out = append(out, draft)
		}
		next = Next(ahead)
	}
	return out, next
}

// Index brings the index up to date with the run, at most ten times a second
// while the run is busy.
func (d *Drive) Index(ctx context.Context) error {
	if d.view.Busy() && d.store.now().Sub(d.indexed) < 100*time.Millisecond {
		return nil
	}
	d.indexed = d.store.now()
	return d.store.index.put(ctx, d.view, d.journal.Head())
}

// Close writes the snapshot, brings the index up to date and gives up the lock.
func (d *Drive) Close(ctx context.Context) error {
	defer d.release()
	defer d.journal.Close()
	if d.view.RunID == "" {
		return nil
	}
	raw, err := d.view.Snapshot()
	if err == nil {
		err = journal.WriteFileAtomic(d.store.disk, filepath.Join(d.store.Dir(d.id), "snapshot.json"), raw)
	}
	return errors.Join(err, d.store.index.put(ctx, d.view, d.journal.Head()))
}

// snapshotHead returns the head that the run's snapshot remembers.
func (s *Store) snapshotHead(id ID) (journal.Head, bool) {
	raw, err := os.ReadFile(filepath.Join(s.Dir(id), "snapshot.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return journal.Head{}, false
	}
	var v struct {
		Seq  int64  `json:"seq"`
		Head string `json:"head_hash"`
	}
	if err != nil || json.Unmarshal(raw, &v) != nil || v.Seq == 0 {
		return journal.Head{}, false // derived, and written anew at the next stop
	}
	return journal.Head{Seq: v.Seq, Hash: v.Head}, true
}
