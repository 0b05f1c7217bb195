package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
)

// A run of 102 nodes that do nothing: validate and fix take turns.
func BenchmarkNodeExecutions(b *testing.B) {
	for _, parallel := range []int{1, 8} {
		b.Run(fmt.Sprintf("runs=%d", parallel), func(b *testing.B) { benchmarkNodes(b, parallel) })
	}
}

const fixes = 45

func noop() map[string]runs.Activity {
	return map[string]runs.Activity{"none": func(_ context.Context, w runs.Work, _ runs.Try) (runs.Result, error) {
		if w.Node.Name == "validate" && w.Visit <= fixes {
			return runs.Result{Outcome: "failed"}, nil
		}
		return runs.Result{Outcome: "ok"}, nil
	}}
}

func noopRequest() runs.StartRequest {
	node := func(name string, exit runs.State, next string) runs.Node {
		return runs.Node{Name: name, Worker: "none", Exit: exit, TimeoutS: 60, Next: map[string]runs.Step{"*": {Node: next}}}
	}
	validate := node("validate", runs.StateValidating, "fix")
	validate.Next["ok"] = runs.Step{State: runs.StateReadyForPR, Node: "publish"}
	fix := node("fix", runs.StateValidating, "validate")
	fix.Enter = runs.StateFixing
	return runs.StartRequest{Kind: runs.Launch, Input: []byte(`{}`), Workflow: runs.Workflow{Name: "noop", Version: "1", Kind: runs.Launch, Nodes: []runs.Node{
		node("a", runs.StateClonedInputs, "b"), node("b", runs.StateIngested, "c"), node("c", runs.StateFactsReady, "d"),
		node("d", runs.StatePlanReady, "e"), node("e", runs.StateDrafting, "f"), node("f", runs.StateDraftReady, "g"),
		node("g", runs.StateLinking, "validate"), validate, fix, node("publish", runs.StatePROpened, "last"),
		{Name: "last", Worker: "none", TimeoutS: 60},
	}}}
}

const nodes = 7 + 2*fixes + 1 + 2

func benchmarkNodes(b *testing.B, parallel int) {
	store, err := runs.OpenStore(b.TempDir(), runs.StoreOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	engine := local.New(local.Options{Store: store, Workers: noop()})
	defer engine.Close(context.Background())
	total := 0
	for b.Loop() {
		var all sync.WaitGroup
		for range parallel {
			all.Go(func() {
				id, _, err := engine.Start(b.Context(), noopRequest())
				if err == nil {
					_, err = store.Until(b.Context(), id, func(v *runs.View) bool { return v.State == runs.StateDone })
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		total += parallel * nodes
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "nodes/s")
}

// What one flush of this disk costs, to see node executions beside.
func BenchmarkFlush(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 600)
	for b.Loop() {
		f.Write(line)
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "flushes/s")
}
