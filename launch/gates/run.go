package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// maxIssues is how many issues of one gate a report lists. The first in the
// order of dossier.SortIssues stay; the gate's result counts them all.
const maxIssues = 500

// lastWords is how long a gate whose time is over has to say what it was waiting for.
const lastWords = time.Second

// Progress says that a gate starts, or what came of it.
type Progress struct {
	Gate     string
	Finished bool
	Result   dossier.GateResult // once finished
}

// Log is what a gate writes to the run's folder: its findings as text.
type Log struct {
	Name string // of the gate
	Path string // relative to the run's folder, as in the gate's result
	Text []byte
}

// RunAll runs the gates in order, in the profile of the configuration, and returns the report and a log of each gate.
// Unless nil, observe is called before and after each gate, on the caller's
// goroutine. The error is ctx's, when ctx ends; whatever goes wrong in a gate is
// an issue of the report.
func RunAll(ctx context.Context, in *Input, gates []Gate, observe func(Progress)) (dossier.ValidationReport, []Log, error) {
	shared := *in
	shared.parsed = &parsedPages{pages: map[string]parsedPage{}}
	in = &shared
	profile := cmp.Or(in.Config.Profile, "local")
	report := dossier.ValidationReport{
		SchemaVersion: dossier.SchemaVersion, OK: true, Profile: profile, Strict: in.Config.Strict(),
		Gates: []dossier.GateResult{}, Issues: []dossier.Issue{},
	}
	if observe == nil {
		observe = func(Progress) {}
	}
	var logs []Log
	for _, gate := range gates {
		observe(Progress{Gate: gate.Name})
		outcome := runGate(ctx, in, gate, profile)
		if err := ctx.Err(); err != nil {
			return dossier.ValidationReport{}, nil, err
		}
		issues := finish(outcome.Issues, gate.Name)
		result := dossier.GateResult{
			Name: gate.Name, OK: true, Skipped: outcome.Skipped, Checked: outcome.Checked,
			Issues: len(issues), LogPath: "logs/gate_" + gate.Name + ".log",
		}
		for _, i := range issues {
			result.OK = result.OK && !dossier.Fails(i.Severity, report.Strict)
		}
		logs = append(logs, Log{Name: gate.Name, Path: result.LogPath, Text: logText(gate, result, outcome.Notes, issues)})
		report.OK = report.OK && result.OK
		report.Gates = append(report.Gates, result)
		report.Issues = append(report.Issues, issues[:min(len(issues), maxIssues)]...)
		observe(Progress{Gate: gate.Name, Finished: true, Result: result})
	}
	dossier.SortIssues(report.Issues)
	return report, logs, nil
}

// runGate runs one gate within its time. A gate that does not heed its context
// is left behind, and its outcome forgotten.
func runGate(ctx context.Context, in *Input, gate Gate, profile string) Outcome {
	limit := gate.Timeout(profile)
	gateCtx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		outcome Outcome
		err     error
	}
	done := make(chan answer, 1)
	go func() {
		outcome, err := guarded(gateCtx, in, gate)
		done <- answer{outcome, err}
	}()
	judge := func(a answer) Outcome {
		if a.err == nil {
			return a.outcome
		}
		if errors.Is(a.err, context.DeadlineExceeded) && gateCtx.Err() != nil {
			return timedOut(gate, limit)
		}
		return failed(gate, a.err)
	}
	select {
	case a := <-done:
		return judge(a)
	case <-gateCtx.Done():
	}
	select {
	case a := <-done:
		return judge(a)
	case <-time.After(lastWords):
		return timedOut(gate, limit)
	}
}

// guarded runs the gate and turns a panic into an error.
func guarded(ctx context.Context, in *Input, gate Gate) (outcome Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("it stopped unexpectedly")
		}
	}()
	return gate.Run(ctx, in)
}

func timedOut(gate Gate, limit time.Duration) Outcome {
	return Outcome{Issues: []dossier.Issue{issue(gate.Name, GateTimeout, dossier.Blocker, "", 0,
		"Validate again; if it happens again, a page may be far larger than the others.",
		"the gate did not finish within %s", limit)}}
}

func failed(gate Gate, err error) Outcome {
	why := err.Error()
	if f := fault.From(err); f.Code != fault.Internal {
		why = f.Message
	}
	return Outcome{Issues: []dossier.Issue{issue(gate.Name, ValidatorGateExecutionFailed, dossier.Blocker, "", 0,
		"Look at the artifact or page that it names, then validate again.", "the gate could not run: %s", quote(why))}}
}

// finish gives the issues their gate, id and order, each one once.
func finish(issues []dossier.Issue, gate string) []dossier.Issue {
	out := make([]dossier.Issue, 0, len(issues))
	for _, i := range issues {
		i.Gate, i.Status = gate, "OPEN"
		i.ID = issueID(i)
		out = append(out, i)
	}
	dossier.SortIssues(out)
	return slices.CompactFunc(out, func(a, b dossier.Issue) bool { return a.ID == b.ID })
}

func logText(gate Gate, result dossier.GateResult, notes []string, issues []dossier.Issue) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "gate %s: %s\n", gate.Name, gate.Title)
	if result.Skipped != "" {
		fmt.Fprintf(&b, "skipped: %s\n", result.Skipped)
	}
	fmt.Fprintf(&b, "checked %d, found %d\n", result.Checked, result.Issues)
	for _, note := range notes {
		fmt.Fprintln(&b, note)
	}
	for _, i := range issues {
		path, line := i.At()
		if path == "" {
			path = "-"
		}
		fmt.Fprintf(&b, "%s %s %s:%d %s (%s)\n", i.Severity, i.Code, path, line, i.Message, i.ID)
		if i.SuggestedFix != "" {
			fmt.Fprintf(&b, "  %s\n", i.SuggestedFix)
		}
	}
	return []byte(b.String())
}
