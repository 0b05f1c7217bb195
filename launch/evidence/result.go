package evidence

import (
	"context"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// infer states what follows from the tree but stands nowhere, if that is allowed.
func (g *gatherer) infer(context.Context) {
	kind := g.inv.Profile.ProductType
	manifests := g.mainManifests()
	if !g.opts.AllowInference || kind == "other" || kind == "" || len(manifests) == 0 {
		return
	}
	noun := map[string]string{"cli": "a command-line program", "sdk": "a software development kit", "tool": "a tool"}[kind]
	if noun == "" {
		noun = "a " + kind
	}
	m := manifests[0]
	g.claims.add(finish(g.name+" is "+noun), kindMetadata, inference, m.Path+"#product-type", cite(m.Path, m.Name.Line, m.Name.Line, fromManifest))
}

func (g *gatherer) result() Result {
	claims := g.claims.sorted()
	g.gaps()
	g.group(claims)
	if g.conflicts == nil {
		g.conflicts = []dossier.Contradiction{}
	}
	if g.snippets == nil {
		g.snippets = []dossier.Snippet{}
	}
	slices.SortFunc(g.facts.Examples, func(a, b dossier.Example) int { return strings.Compare(a.ID, b.ID) })
	return Result{
		Facts: g.facts,
		Evidence: dossier.EvidenceMap{
			SchemaVersion: dossier.SchemaVersion, RepoURL: g.inv.RepoURL, RepoSHA: g.inv.RepoSHA,
			Claims: claims, Contradictions: g.conflicts,
		},
		Snippets:  dossier.SnippetCatalog{SchemaVersion: dossier.SchemaVersion, RepoSHA: g.inv.RepoSHA, Snippets: g.snippets},
		TruthLock: g.truthLock(claims),
	}
}

// group sorts claim ids by what a page uses them for: in the order in which the
// repository makes them, so that a page reads like its source. Claims that lost a disagreement are left out.
func (g *gatherer) group(sorted []dossier.Claim) {
	g.facts.Claims = []string{}
	for _, claim := range sorted {
		g.facts.Claims = append(g.facts.Claims, claim.ID)
	}
	groups := &g.facts.ClaimGroups
	*groups = dossier.ClaimGroups{
		KeyFeatures: []string{}, InstallSteps: []string{}, QuickstartSteps: []string{},
		WorkflowClaims: []string{}, Limitations: []string{}, CompatibilityNotes: []string{},
	}
	lost := g.lost()
	for _, claim := range g.claims.order {
		if lost[claim.ID] || g.repeats[claim.ID] {
			continue
		}
		if p := g.facts.Positioning; claim.Kind == kindFeature && (claim.ID == p.ShortDescription.ClaimID || claim.ID == p.Tagline.ClaimID) {
			continue // it opens the page
		}
		switch claim.Kind {
		case kindFeature, kindFormat:
			groups.KeyFeatures = append(groups.KeyFeatures, claim.ID)
		case kindInstall:
			groups.InstallSteps = append(groups.InstallSteps, claim.ID)
		case kindQuickstart:
			groups.QuickstartSteps = append(groups.QuickstartSteps, claim.ID)
		case kindWorkflow:
			groups.WorkflowClaims = append(groups.WorkflowClaims, claim.ID)
		case kindLimitation:
			groups.Limitations = append(groups.Limitations, claim.ID)
		case kindCompatibility:
			groups.CompatibilityNotes = append(groups.CompatibilityNotes, claim.ID)
		}
	}
}

// lost returns the claims that a disagreement leaves without effect: the weaker
// side, or both while it is unresolved. They stay in the evidence.
func (g *gatherer) lost() map[string]bool {
	lost := map[string]bool{}
	for _, c := range g.conflicts {
		lost[c.ClaimA] = c.Winner != c.ClaimA || lost[c.ClaimA]
		lost[c.ClaimB] = c.Winner != c.ClaimB || lost[c.ClaimB]
	}
	return lost
}

// gaps says what a page would want and the repository does not say.
func (g *gatherer) gaps() {
	f := &g.facts
	readme := slices.ContainsFunc(g.docs, func(d document) bool { return d.readme })
	switch {
	case len(g.inv.Paths) == 0:
		g.missing("The repository has no files")
	case !readme:
		g.missing("The repository has no README that can be read")
	case f.Positioning.ShortDescription.Value == "":
		g.missing("The README has no sentence that says what the product is")
	}
	for _, name := range g.unread {
		g.missing("The document %s could not be read: it is too large, binary, or not UTF-8", codeSpan(name))
	}
	if g.leftOut > 0 {
		g.missing("%d documents are not read: the first %d, or %d MiB, are", g.leftOut, maxDocuments, maxDocumentBytes>>20)
	}
	if len(g.inv.Profile.Manifests) == 0 {
		g.missing("There is no package manifest, so name, version and dependencies are not stated")
	} else if f.Version == nil {
		g.missing("No manifest states a version")
	}
	if f.License == nil {
		g.missing("No license is stated")
	}
	if len(g.snippets) == 0 {
		g.missing("There is no example: neither a file nor code in a document")
	} else if len(f.Examples) == 0 {
		g.missing("There are no example files; code in documents is all there is")
	}
	if f.APISurface.Status == "not_extracted" {
		g.missing("The API surface is not extracted: %s", lowerFirst(f.APISurface.Reason))
	}
}

// truthLock lists what no page may state: the claims of disagreements that
// nothing resolves, and inferences where they are not allowed.
func (g *gatherer) truthLock(claims []dossier.Claim) dossier.TruthLockReport {
	report := dossier.TruthLockReport{
		SchemaVersion: dossier.SchemaVersion, Pages: []dossier.TruthLockPage{}, UnresolvedClaimIDs: []string{},
		InferredClaimIDs: []string{}, ForbiddenInferred: []string{}, Issues: []dossier.Issue{},
	}
	for _, c := range g.conflicts {
		if c.Resolution == "unresolved" {
			report.UnresolvedClaimIDs = append(report.UnresolvedClaimIDs, c.ClaimA, c.ClaimB)
		}
	}
	slices.Sort(report.UnresolvedClaimIDs)
	report.UnresolvedClaimIDs = slices.Compact(report.UnresolvedClaimIDs)
	for _, claim := range claims {
		if claim.Truth == inference {
			report.InferredClaimIDs = append(report.InferredClaimIDs, claim.ID)
			if !g.opts.AllowInference {
				report.ForbiddenInferred = append(report.ForbiddenInferred, claim.ID)
			}
		}
	}
	report.OK = len(report.UnresolvedClaimIDs) == 0 && len(report.ForbiddenInferred) == 0
	return report
}
