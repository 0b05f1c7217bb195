package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/runs/local"
	"github.com/gantry-run/gantry/telemetry"
)

// redaction measures the masking of a build log, with secrets of the process to look for.
func redaction(_ context.Context, l *lab) ([]row, error) {
	line := "2026-11-20T10:00:00Z INFO pkg/server/handler.go:118 processed request id=42 status=ok path=https://example.com/docs/page duration=1.25ms\n" +
		"The quick brown fox passes the password prompt; authorization is access by key. --- [done] 6700066aa1b2c3d4e5f60718293a4b5c6d7e8f90\n"
	text := strings.Repeat(line, 8<<20/len(line))
	r := telemetry.NewRedactor([]string{"known-secret-value", "another-secret-value", "third-secret-value-0123456789"}).WithRoots(l.dir)
	var rates []float64
	for range l.rounds {
		began := time.Now()
		if r.String(text) == "" {
			return nil, errors.New("nothing is left")
		}
		rates = append(rates, float64(len(text))/1e6/time.Since(began).Seconds())
	}
	return []row{atLeast("redaction, best round", slices.Max(rates), "MB/s", 100)}, nil
}

// bigArtifact measures what reading a large artifact in slices costs in memory.
func bigArtifact(ctx context.Context, l *lab) ([]row, error) {
	state, err := l.folder("big")
	if err != nil {
		return nil, err
	}
	id, err := l.runWithBigArtifact(ctx, state)
	if err != nil {
		return nil, err
	}
	c, err := l.serve(ctx, state)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	size := l.big << 20
	read := func(offset int64) error {
		args := json.RawMessage(fmt.Sprintf(`{"run_id":%q,"artifact_name":"big.log","offset":%d,"max_bytes":1048576}`, id, offset))
		if a := c.Call(ctx, "get_artifact", args, false); a.Outcome != probe.OK {
			return errors.New(a.Text)
		}
		return nil
	}
	const pieces = 128
	at := func(i int64) int64 { return i * (size - 1<<20) / (pieces - 1) }
	var before, after int64
	began := time.Now()
	for i := range int64(pieces) {
		if err := read(at(i)); err != nil {
			return nil, err
		}
		if i == pieces/4 { // buffers have their size by now
			_, before = probe.Memory(c.PID())
		}
	}
	took := time.Since(began)
	_, after = probe.Memory(c.PID())
	return []row{
		plain(fmt.Sprintf("slices of 1 MiB of an artifact of %d MiB", l.big), pieces/took.Seconds(), "a second"),
		atMost("growth of the peak memory meanwhile", float64(after-before)/1024, "MB", 32),
	}, nil
}

// runWithBigArtifact makes a finished run with a log of that size.
func (l *lab) runWithBigArtifact(ctx context.Context, state string) (runs.ID, error) {
	store, err := runs.OpenStore(state, runs.StoreOptions{})
	if err != nil {
		return "", err
	}
	defer store.Close()
	workers := empties(0)
	empty := workers[worker]
	workers[worker] = func(ctx context.Context, w runs.Work, try runs.Try) (runs.Result, error) {
		if w.Node.Name != "a" {
			return empty(ctx, w, try)
		}
		a, err := longLog(store.Dir(w.Run), l.big<<20)
		return runs.Result{Outcome: "ok", Events: []runs.Draft{{Type: runs.ArtifactWritten, Payload: a}}}, err
	}
	engine := local.New(local.Options{Store: store, Workers: workers})
	defer engine.Close(ctx)
	id, _, err := engine.Start(ctx, emptyRequest(0))
	if err != nil {
		return "", err
	}
	_, err = store.Until(ctx, id, func(v *runs.View) bool { return v.State == runs.StateDone })
	return id, err
}

// longLog writes a log into the run's folder.
func longLog(dir string, size int64) (runs.Artifact, error) {
	a := runs.Artifact{Name: "big.log", Path: "artifacts/big.log", Size: size, Writer: worker}
	f, err := os.Create(filepath.Join(dir, a.Path))
	if err != nil {
		return a, err
	}
	defer f.Close()
	sum := sha256.New()
	lines := strings.Repeat("2026-11-20T10:00:00Z INFO handler.go:118 processed request id=42 status=ok\n", 1<<14)
	for left := size; left > 0; left -= int64(len(lines)) {
		if _, err := io.WriteString(io.MultiWriter(f, sum), lines[:min(left, int64(len(lines)))]); err != nil {
			return a, err
		}
	}
	a.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return a, nil
}
