package launch

import (
	"context"
	"fmt"
	"slices"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/patch"
)

// harm looks at the site with the fix in it. If a gate other than the issue's own
// has more to refuse than before, it undoes the fix and says which; else it says
// nothing.
//
// The report may be older than the site, which a person may have edited since. So a
// gate that looks worse is held against the site without the fix, before anybody is
// blamed.
func (j *job) harm(ctx context.Context, in *gates.Input, report dossier.ValidationReport, issue dossier.Issue, will intent) (string, error) {
	after, err := refusals(ctx, in)
	if err != nil {
		return "", err
	}
	if worse(refused(report), after, issue.Gate) == "" {
		return "", nil
	}
	if err := j.undo(in, will); err != nil {
		return "", err
	}
	before, err := refusals(ctx, in)
	if err != nil {
		return "", err
	}
	if why := worse(before, after, issue.Gate); why != "" {
		return why, nil
	}
	_, err = patch.Apply(in.Site, in.Context.AllowedPaths, will.Bundle, j.cfg.Budgets)
	return "", err
}

// undo puts back what the fix changed.
func (j *job) undo(in *gates.Input, will intent) error {
	back, err := patch.Bundle(patch.BundleInput{Root: in.Site, BaseRef: will.Bundle.BaseRef, Files: will.Before})
	if err != nil {
		return err
	}
	_, err = patch.Apply(in.Site, in.Context.AllowedPaths, back, dossier.Budgets{}) // what was there fits any budget
	return err
}

// refusals runs the gates whose outcome the site alone decides, and counts what
// each refuses.
func refusals(ctx context.Context, in *gates.Input) (map[string]int, error) {
	all := slices.DeleteFunc(gates.All(), func(g gates.Gate) bool { return g.Name == "external_links" })
	report, _, err := gates.RunAll(ctx, in, all, nil)
	return refused(report), err
}

// refused counts the issues that keep the report from being ok, by gate.
func refused(report dossier.ValidationReport) map[string]int {
	n := map[string]int{}
	for _, i := range report.Issues {
		if dossier.Fails(i.Severity, report.Strict) {
			n[i.Gate]++
		}
	}
	return n
}

// worse names the first gate, in their order, that refuses more than before; the one
// that is being fixed may.
func worse(before, after map[string]int, own string) string {
	for _, g := range gates.All() {
		if g.Name != own && after[g.Name] > before[g.Name] {
			return fmt.Sprintf("gate %s then had %d issues instead of %d", g.Name, after[g.Name], before[g.Name])
		}
	}
	return ""
}
