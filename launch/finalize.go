package launch

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
)

// summaryName is the artifact that tells a person what the launch did.
const summaryName = "summary.md"

// finalize writes the summary.
func (w *workers) finalize(_ context.Context, j *job) (runs.Result, error) {
	var plan dossier.PagePlan
	var facts dossier.ProductFacts
	var report dossier.ValidationReport
	for _, doc := range []struct {
		name string
		doc  any
	}{{dossier.PagePlanName, &plan}, {dossier.ProductFactsName, &facts}, {dossier.ValidationReportName, &report}} {
		if err := j.read(doc.name, doc.doc); err != nil {
			return runs.Result{}, err
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Launch of %s\n\nFrom %s at %s.\n\n## Pages\n\n", facts.ProductName, facts.RepoURL, facts.RepoSHA)
	for _, p := range plan.Pages {
		fmt.Fprintf(&b, "- %s: %s\n", p.OutputPath, p.Title)
	}
	if len(plan.Omitted) > 0 {
		b.WriteString("\n## Left out\n\n")
		for _, p := range plan.Omitted {
			fmt.Fprintf(&b, "- %s/%s: %s\n", p.Section, p.Slug, p.Reason)
		}
	}
	if len(facts.Missing) > 0 {
		b.WriteString("\n## What the repository does not say\n\n")
		for _, m := range facts.Missing {
			fmt.Fprintf(&b, "- %s\n", m)
		}
	}
	b.WriteString("\n## Gates\n\n")
	for _, g := range report.Gates {
		fmt.Fprintf(&b, "- %s: %s\n", g.Name, verdict(g))
	}
	if err := j.file(summaryName, "reports/"+summaryName, "", b.Bytes()); err != nil {
		return runs.Result{}, err
	}
	return runs.Result{Sections: j.statesOf(sectionMerged, sectionDone)}, nil
}

// verdict says in a few words how a gate went.
func verdict(g dossier.GateResult) string {
	switch {
	case g.Skipped != "":
		return "skipped: " + g.Skipped
	case g.OK && g.Issues == 0:
		return fmt.Sprintf("passed, %d checked", g.Checked)
	case g.OK:
		return fmt.Sprintf("passed with %d notes, %d checked", g.Issues, g.Checked)
	}
	return fmt.Sprintf("failed, %d issues", g.Issues)
}
