package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
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
	stable  journal.Head // the last head that is durable: what others may rely on
	indexed journal.Head
	due     time.Time // when the index may be written again
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
		if fault.Is(err, fault.EventChainBroken) {
			err = errors.Join(err, s.index.rest(ctx, id)) // nobody can do anything with it
		}
		return nil, false, err
	}
	d.journal, d.stable = j, j.Head()
	if left, ok := s.snapshotHead(id); !ok || left.Seq != d.stable.Seq {
		s.sweep(id) // whoever drove last has not come to its end
	}
	if d.view.RunID == "" {
		err = fault.New(fault.EventChainBroken, "the journal of run %s has no first event", id).WithDetails(journal.Break{Seq: 1, Reason: "it is not there"})
	} else if repair.CutBytes > 0 {
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
// report progress or the kind of run promises nothing. An event that cannot be
// written is INVALID_INPUT, and none is; after any other error the drive is of no
// more use: close it.
func (d *Drive) Append(drafts ...Draft) error {
	durable := slices.ContainsFunc(drafts, func(draft Draft) bool { return !draft.Type.progress() })
	return d.append(durable, drafts)
}

// Defer is Append that leaves it to the next Append, or Settle, to make the events
// durable, so that one flush carries both.
func (d *Drive) Defer(drafts ...Draft) error { return d.append(false, drafts) }

func (d *Drive) append(durable bool, drafts []Draft) error {
	bodies, events := make([][]byte, len(drafts)), make([]Event, len(drafts))
	for i, draft := range drafts {
		var err error
		if events[i], err = NewEvent(d.id, draft, d.store.now()); err != nil {
			return err
		}
		if bodies[i], err = events[i].Body(); err != nil {
			return err
		}
	}
	began := time.Now()
	head, lines, err := d.journal.Append(durable && d.view.Kind.Durable(), bodies...)
	if err != nil {
		return err
	}
	d.store.appends.add(d.view.Kind, time.Since(began))
	if durable {
		d.stable = head
	}
	for i, l := range lines { // what a reader of the line would see
		e := events[i]
		e.Seq, e.PrevHash, e.EventHash = l.Seq, l.PrevHash, l.Hash
		if err := d.view.Apply(e); err != nil {
			return err
		}
	}
	d.store.hub.notify(d.id)
	return nil
}

// progress reports whether the event only tells how things are going.
func (t EventType) progress() bool {
	return t == WorkItemStarted || t == GateRunStarted || t == GateRunFinished || t == LLMCallStarted
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

// Answer writes what the planner decides about commands that were collected while work is
// executed.
func (d *Drive) Answer() error {
	for drafts := Answer(d.view); len(drafts) > 0; drafts = Answer(d.view) {
		if err := d.Append(drafts...); err != nil {
			return err
		}
	}
	return nil
}

// Settle writes what the planner wants written, as few flushes as possible, and
// returns its next decision that is not a write. All events are durable then.
func (d *Drive) Settle() (Decision, error) {
	for {
		drafts, next := foresee(d.view)
		if len(drafts) == 0 && d.stable.Seq < d.view.Seq {
			return next, d.append(true, nil)
		}
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

// Index brings the index up to date with the run, at most ten times a second:
// call it as often as you like.
func (d *Drive) Index(ctx context.Context) error {
	now := d.store.now()
	if d.indexed == d.stable || now.Before(d.due) {
		return nil
	}
	d.indexed, d.due = d.stable, now.Add(100*time.Millisecond)
	return d.store.index.put(ctx, d.view, d.stable)
}

// Close writes the snapshot, brings the index up to date and gives up the lock.
func (d *Drive) Close(ctx context.Context) error {
	defer d.release()
	defer d.journal.Close()
	if d.view.RunID == "" {
		return nil
	}
	// What the snapshot and the index remember must not be lost with the power.
	head, _, err := d.journal.Append(d.view.Kind.Durable())
	if err != nil {
		return err
	}
	path := filepath.Join(d.store.Dir(d.id), "snapshot.json")
	raw, err := d.view.Snapshot()
	if old, _ := os.ReadFile(path); err == nil && !bytes.Equal(old, raw) {
		write := journal.ReplaceFile
		if d.view.Kind.Durable() {
			write = journal.WriteFileAtomic
		}
		err = write(d.store.disk, path, raw)
	}
	return errors.Join(err, d.store.index.put(ctx, d.view, head))
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
