package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/handles"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/export"
)

// openTelemetry joins telemetry with the ways out of this process. scraped says that
// /metrics will be served.
func (a *app) openTelemetry(scraped bool) (err error) {
	o := telemetry.Options{
		Version: version, DBPath: filepath.Join(a.cfg.StateDir, "telemetry.db"), Redactor: a.redactor, Logger: a.log,
		Tools: map[string][]string{guard.Protocol: handles.Methods()}, SpanArguments: a.cfg.LogArgs,
	}
	for _, set := range specs.Toolsets() {
		tools, err := specs.Tools(set)
		if err != nil {
			return err
		}
		for _, t := range tools {
			o.Tools[set] = append(o.Tools[set], t.Name)
		}
	}
	for _, g := range gates.All() {
		o.Gates = append(o.Gates, g.Name)
	}
	a.exporters, err = export.New(context.Background(), export.Options{
		Env: a.env, Prometheus: scraped, Appends: telemetry.Appends(a.store.Appends), Log: a.log,
	})
	if err != nil {
		return err
	}
	a.exporters.Join(&o)
	if err := a.openOutbox(); err != nil {
		return err
	}
	if a.outbox != nil {
		o.Forward = a.outbox
	}
	if a.tel, err = telemetry.Open(context.Background(), o); err != nil || !a.exporters.Any() {
		return err
	}
	return a.tel.Observe(a.store.Count, a.countProcesses)
}

// countProcesses counts the supervised processes that run, by the kind of the run whose
// id their key begins with.
func (a *app) countProcesses(context.Context) ([]telemetry.ProcessCount, error) {
	all, err := a.supervisor.List()
	byKind := map[runs.Kind]int64{runs.Target: 0, runs.Session: 0}
	for _, st := range all {
		if st.State != proc.Running && st.State != proc.Orphan {
			continue
		}
		id, _, _ := strings.Cut(st.Key, ".")
		if v, err := a.store.View(runs.ID(id)); err == nil {
			byKind[v.Kind]++
		}
	}
	var out []telemetry.ProcessCount
	for kind, n := range byKind {
		out = append(out, telemetry.ProcessCount{Kind: kind, Count: n})
	}
	slices.SortFunc(out, func(a, b telemetry.ProcessCount) int { return cmp.Compare(a.Kind, b.Kind) })
	return out, err
}

// metrics returns the handler of /metrics. A scrape sees what happened before it, in
// whichever process on the state directory.
func (a *app) metrics() http.Handler { return a.exporters.Metrics(a.catchUp) }

// projectEvery is how often runs are turned into records, spans and metrics.
const projectEvery = 2 * time.Second

// project follows runs. It reads their journals; nobody waits for it. The first time is
// at once only when somebody gets what it gives: a start is not held up for records.
func (a *app) project(ctx context.Context) {
	tick := time.NewTicker(projectEvery)
	defer tick.Stop()
	for due := a.exporters.Any() || a.outbox != nil; ; due = true {
		if due {
			a.tellCatchUp(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tellCatchUp is catchUp for whom its error is no concern.
func (a *app) tellCatchUp(ctx context.Context) {
	if err := a.catchUp(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("what happened could not be turned into records and metrics", "error", err.Error())
	}
}

// catchUp reads what is new: the calls of other processes, and the journals of the newest
// runs and of those that somebody works on.
func (a *app) catchUp(ctx context.Context) error {
	if err := a.tel.CountCalls(ctx); err != nil {
		return err
	}
	page, err := a.store.List(ctx, runs.Filter{Limit: 50})
	if err != nil {
		return err
	}
	ids, err := a.store.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, r := range page.Runs {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	var failed []error
	for _, id := range ids {
		failed = append(failed, a.projectRun(ctx, id))
	}
	return errors.Join(failed...)
}

// projectRun reads a run's journal if it has grown. One that is damaged is told of once.
func (a *app) projectRun(ctx context.Context, id runs.ID) error {
	size := a.store.Size(id)
	if seen, ok := a.projected.Load(id); ok && seen == size {
		return nil
	}
	err := a.tel.Project(ctx, id, a.store.Events(id, a.tel.Projected(id)))
	if err == nil || fault.Is(err, fault.EventChainBroken) {
		a.projected.Store(id, size)
	}
	return err
}
