package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
)

// lazyDisk flushes nothing: a power cut may have the runs that are made for a measure.
type lazyDisk struct{ journal.Disk }

type lazyFile struct{ journal.File }

func (d lazyDisk) OpenFile(path string, flag int, perm os.FileMode) (journal.File, error) {
	f, err := d.Disk.OpenFile(path, flag, perm)
	return lazyFile{f}, err
}

func (lazyDisk) SyncDir(string) error { return nil }
func (lazyFile) Sync() error          { return nil }

// fill returns a state directory with as many finished runs as the settings say, made
// once.
func (l *lab) fill(ctx context.Context) (string, error) {
	if l.filled != "" {
		return l.filled, nil
	}
	fmt.Fprintf(l.say, "making %d runs\n", l.runs)
	dir, err := l.folder("filled")
	if err != nil {
		return "", err
	}
	at := time.Now().Add(-time.Duration(l.runs) * time.Second)
	now := func() time.Time { return at }
	store, err := runs.OpenStore(dir, runs.StoreOptions{Disk: lazyDisk{}, Now: now})
	if err != nil {
		return "", err
	}
	defer store.Close()
	for range l.runs {
		at = at.Add(time.Second)
		if err := finished(ctx, store); err != nil {
			return "", err
		}
	}
	l.filled = dir
	return dir, nil
}

// finished makes a run that was cancelled before anybody drove it.
func finished(ctx context.Context, store *runs.Store) error {
	id, _, err := store.Create(ctx, emptyRequest(1))
	if err != nil {
		return err
	}
	d, _, err := store.Drive(ctx, id)
	if err != nil {
		return err
	}
	if err := d.Append(runs.Draft{Type: runs.CommandReceived, Payload: runs.Command{ID: "cancel", Type: runs.Cancel}}); err != nil {
		return err
	}
	if _, err := d.Settle(); err != nil {
		return err
	}
	if !d.View().State.Terminal() {
		return fmt.Errorf("run %s is %s after a cancel", id, d.View().State)
	}
	return d.Close(ctx)
}

// emptyRequest starts a launch whose nodes do nothing: validate and fix take turns as
// often as it says.
func emptyRequest(fixes int) runs.StartRequest {
	node := func(name string, exit runs.State, next string) runs.Node {
		return runs.Node{Name: name, Worker: worker, Exit: exit, TimeoutS: 60, Next: map[string]runs.Step{"*": {Node: next}}}
	}
	validate := node("validate", runs.StateValidating, "fix")
	validate.Next["ok"] = runs.Step{State: runs.StateReadyForPR, Node: "publish"}
	fix := node("fix", runs.StateValidating, "validate")
	fix.Enter = runs.StateFixing
	return runs.StartRequest{
		Kind: runs.Launch, Input: fmt.Appendf(nil, `{"fixes":%d}`, fixes), Labels: map[string]string{"product": "empty"},
		Workflow: runs.Workflow{Name: "empty", Version: "1", Kind: runs.Launch, Nodes: []runs.Node{
			node("a", runs.StateClonedInputs, "b"), node("b", runs.StateIngested, "c"), node("c", runs.StateFactsReady, "d"),
			node("d", runs.StatePlanReady, "e"), node("e", runs.StateDrafting, "f"), node("f", runs.StateDraftReady, "g"),
			node("g", runs.StateLinking, "validate"), validate, fix, node("publish", runs.StatePROpened, "last"),
			{Name: "last", Worker: worker, TimeoutS: 60},
		}},
	}
}

// worker is the name under which those nodes know their code.
const worker = "empty"

// executions is how many nodes such a run executes.
func executions(fixes int) int { return 7 + 2*fixes + 1 + 2 }

// empties returns the workers that do nothing, so many fixes long.
func empties(fixes int) map[string]runs.Activity {
	return map[string]runs.Activity{worker: func(_ context.Context, w runs.Work, _ runs.Try) (runs.Result, error) {
		if w.Node.Name == "validate" && w.Visit <= fixes {
			return runs.Result{Outcome: "failed"}, nil
		}
		return runs.Result{Outcome: "ok"}, nil
	}}
}
