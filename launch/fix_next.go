package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/fixes"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/patch"
	"github.com/gantry-run/gantry/runs"
)

// outcomeFixed says that a fix changed something; every other outcome pauses.
const (
	outcomeFixed   = "fixed"
	outcomeUnfixed = "unfixed"
)

// fixed is what a visit of fix_next leaves behind.
type fixed struct {
	IssueID  string         `json:"issue_id"`
	PatchIDs []string       `json:"patch_ids"`
	Attempts map[string]int `json:"attempts"` // by issue, over all visits
	Issues   int            `json:"issues"`   // in the report that the visit began with
	Failure  *runs.Failure  `json:"failure,omitempty"`
}

// fixNext tries to repair the first issue that keeps the report from being ok. What
// it cannot repair is no failure of the run: the run waits for a person.
func (w *workers) fixNext(ctx context.Context, j *job) (runs.Result, error) {
	var report dossier.ValidationReport
	if err := j.read(dossier.ValidationReportName, &report); err != nil {
		return runs.Result{}, err
	}
	out := fixed{PatchIDs: []string{}, Attempts: map[string]int{}}
	if before := j.view.Results[j.work.Node.Name]; before.Data != nil {
		if err := json.Unmarshal(before.Data, &out); err != nil {
			return runs.Result{}, err
		}
		out.PatchIDs, out.Failure = []string{}, nil
	}
	issue, ok := fixes.Next(report)
	if !ok {
		return w.unfixed(out, fault.New(fault.FixNoOp, "the report has no issue to fix")), nil
	}
	if len(report.Issues) < out.Issues {
		// The last fix helped. An issue of the same name is another one: the next of
		// several lines that read alike has moved to its place.
		out.Attempts[issue.ID] = 0
	}
	out.IssueID, out.Issues = issue.ID, len(report.Issues)
	if out.Attempts[issue.ID] >= j.cfg.MaxFixAttempts {
		return w.unfixed(out, fault.New(fault.FixExhausted, "issue %s was fixed %d times and is still there", issue.ID, out.Attempts[issue.ID])), nil
	}
	out.Attempts[issue.ID]++
	applied, err := w.fix(ctx, j, report, issue)
	if err != nil {
		f := fault.From(err)
		if f.Code == fault.Internal || f.Code == fault.Cancelled || f.Code == fault.ToolTimeout {
			return runs.Result{}, err
		}
		return w.unfixed(out, f), nil
	}
	out.PatchIDs = applied
	return runs.Result{Outcome: outcomeFixed, Data: out}, nil
}

func (w *workers) unfixed(out fixed, f *fault.Fault) runs.Result {
	out.Failure = &runs.Failure{Code: string(f.Code), Message: f.Message, Hint: f.Hint, Retryable: f.Retryable}
	if details, err := json.Marshal(f.Details); err == nil && f.Details != nil {
		out.Failure.Details = details
	}
	return runs.Result{Outcome: outcomeUnfixed, Data: out}
}

// intentFile keeps what a fix is about to do to the site. A fix that is done again
// after an interruption cannot plan anew: the issue may be gone from the page already.
const intentFile = "work/fix_next.json"

// intent is a fix that was planned, and what it changes.
type intent struct {
	WorkItem string              `json:"work_item_id"`
	Bundle   dossier.PatchBundle `json:"bundle"`
	Result   patch.Result        `json:"result"`
	Before   []patch.File        `json:"before"` // the files that it changes, as they were
}

// fix applies the patches of the issue's fix and returns those that change something.
// A fix that makes another gate worse is undone.
func (w *workers) fix(ctx context.Context, j *job, report dossier.ValidationReport, issue dossier.Issue) ([]string, error) {
	in, done, err := w.gateInput(ctx, j.try.Dir, j.view, j.cfg, j.folder)
	if err != nil {
		return nil, err
	}
	defer done()
	will, begun := j.begun()
	if !begun {
		if will, err = j.intend(ctx, in, issue); err != nil {
			return nil, err
		}
	}
	if _, err := patch.Apply(in.Site, in.Context.AllowedPaths, will.Bundle, j.cfg.Budgets); err != nil {
		return nil, err
	}
	worse, err := j.harm(ctx, in, report, issue, will)
	if err != nil {
		return nil, err
	}
	name := "fix_" + issue.ID + ".md"
	if err := j.file(name, "reports/"+name, "", fixReport(issue, will.Bundle, will.Result, worse)); err != nil {
		return nil, err
	}
	if worse != "" {
		return nil, fault.New(fault.FixUndone, "the fix of issue %s was undone: %s", issue.ID, worse)
	}
	return will.Result.Applied, nil
}

// intend plans the fix and writes down what it will do.
func (j *job) intend(ctx context.Context, in *gates.Input, issue dossier.Issue) (intent, error) {
	patches, err := fixes.Plan(ctx, in, issue)
	if err != nil {
		return intent{}, err
	}
	will := intent{
		WorkItem: j.work.Key, Bundle: dossier.PatchBundle{SchemaVersion: dossier.SchemaVersion, BaseRef: j.view.Pins.SiteSHA, Patches: patches},
	}
	if will.Result, err = patch.Rehearse(in.Site, in.Context.AllowedPaths, will.Bundle, j.cfg.Budgets); err != nil {
		return intent{}, err
	}
	if len(will.Result.Applied) == 0 {
		return intent{}, fault.New(fault.FixNoOp, "the fix of issue %s changes nothing", issue.ID)
	}
	for _, c := range will.Result.Changes {
		raw, err := in.Site.ReadFile(c.Path)
		if err != nil {
			return intent{}, fault.New(fault.Internal, "cannot read %s of the site", c.Path).Because(err)
		}
		will.Before = append(will.Before, patch.File{Path: c.Path, Content: raw})
	}
	raw, err := dossier.Encode(will)
	if err != nil {
		return intent{}, err
	}
	_, err = j.folder.Write(intentFile, raw)
	return will, err
}

// begun returns what an earlier attempt at this work item was about to do.
func (j *job) begun() (intent, bool) {
	var will intent
	raw, err := j.folder.Read(intentFile)
	if err != nil || json.Unmarshal(raw, &will) != nil {
		return intent{}, false
	}
	return will, will.WorkItem == j.work.Key
}

func fixReport(issue dossier.Issue, bundle dossier.PatchBundle, applied patch.Result, worse string) []byte {
	var b bytes.Buffer
	at, line := issue.At()
	fmt.Fprintf(&b, "# Fix of %s\n\n- Gate: %s\n- Code: %s\n- Place: %s, line %d\n- Finding: %s\n\n", issue.ID, issue.Gate, issue.Code, at, line, issue.Message)
	if worse != "" {
		fmt.Fprintf(&b, "This was undone: %s.\n\n", worse)
	}
	b.Write(patch.DiffReport(bundle, applied))
	return b.Bytes()
}
