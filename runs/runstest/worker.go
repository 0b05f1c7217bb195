package runstest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Workers returns the workers of [Workflow], which record their executions in the
// file at path.
func Workers(path string) map[string]runs.Activity {
	return map[string]runs.Activity{worker: func(ctx context.Context, w runs.Work, t runs.Try) (runs.Result, error) {
		var s Script
		if err := json.Unmarshal(t.Input, &s); err != nil {
			return runs.Result{}, err
		}
		if err := record(path, entry{PID: os.Getpid(), Run: w.Run, Key: w.Key, Attempt: t.Attempt, What: begun}); err != nil {
			return runs.Result{}, err
		}
		r, err := s.act(ctx, w, t)
		return r, firstError(err, record(path, entry{PID: os.Getpid(), Run: w.Run, Key: w.Key, Attempt: t.Attempt, What: ended}))
	}}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Script) act(ctx context.Context, w runs.Work, t runs.Try) (runs.Result, error) {
	name := strings.TrimPrefix(w.Key, string(w.Run)+"/")
	if t.Attempt <= s.Flaky[name] {
		return runs.Result{}, fault.Retry(fault.ProcessFailed, "attempt %d at %s fails", t.Attempt, name)
	}
	t.Tell(runs.Draft{Type: runs.GateRunStarted, Payload: runs.GateRun{Gate: name}})
	switch s.Ruin[name] {
	case Hang:
		if err := hang(ctx, t.Dir); err != nil {
			return runs.Result{}, err
		}
	case Fail:
		if !mended(t.Dir) {
			return runs.Result{}, fault.New(fault.PatchConflict, "%s fails", name)
		}
	case Panic:
		panic("as the script says")
	case Stray:
		return runs.Result{Events: []runs.Draft{{Type: runs.RunStateChanged, Payload: runs.StateChange{OldState: t.View.State, NewState: runs.StateDone}}}}, nil
	case Late:
		if t.Attempt == 1 {
			<-ctx.Done()
			return runs.Result{}, ctx.Err()
		}
	}
	if s.WorkUS > 0 {
		select {
		case <-time.After(time.Duration(s.WorkUS) * time.Microsecond):
		case <-ctx.Done():
			return runs.Result{}, ctx.Err()
		}
	}
	return s.result(w, name), nil
}

func (s Script) result(w runs.Work, name string) runs.Result {
	sum := sha256.Sum256([]byte(name))
	r := runs.Result{
		Outcome: s.Outcomes[name], Data: map[string]string{"made_by": name},
		Events: []runs.Draft{{Type: runs.ArtifactWritten, Payload: runs.Artifact{
			Name: fmt.Sprintf("%s.json", name), Path: "artifacts/" + name + ".json", SHA256: hex.EncodeToString(sum[:]), Writer: worker}}},
	}
	switch {
	case w.Node.Name == "plan":
		r.Items = s.Items
	case w.Item != "":
		r.Sections = map[string]string{w.Item: "drafted"}
	case w.Node.Name == "validate" && r.Outcome == "":
		r.Outcome = "ok"
	}
	return r
}

// hang returns once the file work/mended is in the run's folder, or ctx has ended.
func hang(ctx context.Context, dir string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !mended(dir) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func mended(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "work", "mended"))
	return err == nil
}
