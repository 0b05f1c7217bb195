package launch

import (
	"context"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/evidence"
	"github.com/gantry-run/gantry/launch/inventory"
	"github.com/gantry-run/gantry/runs"
)

// ingestRepo lists what the product repository holds.
func (w *workers) ingestRepo(ctx context.Context, j *job) (runs.Result, error) {
	inv, err := inventory.Scan(ctx, j.repo(), inventory.Options{RepoURL: j.cfg.GithubRepoURL, RepoSHA: j.view.Pins.RepoSHA})
	if err != nil {
		return runs.Result{}, err
	}
	if len(inv.Paths) == 0 {
		return runs.Result{}, fault.New(fault.RepoEmpty, "the commit %.12s of the repository holds no files", j.view.Pins.RepoSHA).
			WithHint("Commit a README, a package manifest or source and start a new run, or name another ref.")
	}
	return runs.Result{}, j.document(dossier.RepoInventoryName, inv)
}

// buildFacts collects what the repository states, with the lines that state it.
func (w *workers) buildFacts(ctx context.Context, j *job) (runs.Result, error) {
	var inv dossier.RepoInventory
	if err := j.read(dossier.RepoInventoryName, &inv); err != nil {
		return runs.Result{}, err
	}
	where, err := readSources(j.try.Dir)
	if err != nil {
		return runs.Result{}, err
	}
	name := "" // as the project writes it
	if where.Named {
		name = j.cfg.ProductName
	}
	r, err := evidence.Gather(ctx, j.repo(), inv, evidence.Options{
		ProductName: name, RepoName: j.cfg.ProductName, ProductSlug: j.cfg.ProductSlug, RulesetVersion: j.cfg.RulesetVersion, AllowInference: j.cfg.AllowInference,
	})
	if err != nil {
		return runs.Result{}, err
	}
	for _, doc := range []struct {
		name string
		doc  any
	}{
		{dossier.EvidenceMapName, r.Evidence}, {dossier.ProductFactsName, r.Facts},
		{dossier.SnippetCatalogName, r.Snippets}, {dossier.TruthLockReportName, r.TruthLock},
	} {
		if err := j.document(doc.name, doc.doc); err != nil {
			return runs.Result{}, err
		}
	}
	return runs.Result{}, nil
}
