package launch

import (
	"context"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/pages"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// planInput reads what pages are planned and drafted from.
func (j *job) planInput(ctx context.Context) (pages.PlanInput, error) {
	in := pages.PlanInput{Config: j.cfg}
	for _, doc := range []struct {
		name string
		doc  any
	}{
		{dossier.ProductFactsName, &in.Facts}, {dossier.EvidenceMapName, &in.Evidence}, {dossier.SnippetCatalogName, &in.Snippets},
		{dossier.FrontmatterContractName, &in.Contract}, {dossier.SiteContextName, &in.Site},
	} {
		if err := j.read(doc.name, doc.doc); err != nil {
			return in, err
		}
	}
	var inv dossier.RepoInventory
	if err := j.read(dossier.RepoInventoryName, &inv); err != nil {
		return in, err
	}
	fill(&in.Config.ProductType, inv.Profile.ProductType)
	head, err := j.git.Head(ctx, j.repo())
	if err != nil {
		return in, err
	}
	in.CommitDate = head.When.Format(time.RFC3339)
	in.Ruleset, err = pages.LoadRuleset(specs.Files(), j.cfg.RulesetVersion)
	return in, err
}

// buildPlan decides on the pages. The sections that get one are what the drafts fan
// out over.
func (w *workers) buildPlan(ctx context.Context, j *job) (runs.Result, error) {
	in, err := j.planInput(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	plan, err := pages.Plan(in)
	if err != nil {
		return runs.Result{}, err
	}
	if err := j.document(dossier.PagePlanName, plan); err != nil {
		return runs.Result{}, err
	}
	planned := map[string]bool{}
	for _, p := range plan.Pages {
		planned[p.Section] = true
	}
	states := j.states(sectionBlocked) // without a page: the evidence does not carry one
	items := []string{}
	for _, s := range dossier.Sections() {
		if planned[s] {
			items, states[s] = append(items, s), sectionOutlined
		}
	}
	return runs.Result{Items: items, Sections: states}, nil
}

// draftInput adds the plan and the templates to what it was made from.
func (j *job) draftInput(ctx context.Context) (pages.DraftInput, error) {
	plan, err := j.planInput(ctx)
	if err != nil {
		return pages.DraftInput{}, err
	}
	in := pages.DraftInput{PlanInput: plan, Templates: specs.Files()}
	return in, j.read(dossier.PagePlanName, &in.Plan)
}
