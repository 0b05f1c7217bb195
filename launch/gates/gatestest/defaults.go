package gatestest

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

const sha = "0123456789abcdef0123456789abcdef01234567"

func config() dossier.Config {
	c := dossier.Defaults()
	c.ProductName, c.ProductSlug, c.Family, c.TargetPlatform = "Widget", "widget", "widgets", "go"
	c.GithubRepoURL, c.RequiredSections = "https://example.com/acme/widget", []string{dossier.Docs}
	return c
}

// defaults returns a valid document of each kind. The evidence has claim
// c1111111111111111 (README.md, lines 1 to 2), "Widget reads and writes files.".
func defaults() map[string][]byte {
	docs := map[string]any{
		dossier.FrontmatterContractName: contract(), dossier.SiteContextName: context(), dossier.RepoInventoryName: inventory(),
		dossier.ProductFactsName: facts(), dossier.EvidenceMapName: evidence(), dossier.SnippetCatalogName: catalog(),
		dossier.TruthLockReportName: dossier.TruthLockReport{
			SchemaVersion: dossier.SchemaVersion, OK: true, Pages: []dossier.TruthLockPage{}, UnresolvedClaimIDs: []string{},
			InferredClaimIDs: []string{}, ForbiddenInferred: []string{}, Issues: []dossier.Issue{},
		},
		dossier.PagePlanName: plan(),
		dossier.PatchBundleName: dossier.PatchBundle{
			SchemaVersion: dossier.SchemaVersion, BaseRef: sha, Patches: []dossier.Patch{},
		},
	}
	out := map[string][]byte{}
	for name, doc := range docs {
		raw, err := dossier.Encode(doc)
		if err != nil {
			panic(err) // plain data always encodes
		}
		out[name] = raw
	}
	return out
}

func contract() dossier.FrontmatterContract {
	c := dossier.FrontmatterContract{
		SchemaVersion: dossier.SchemaVersion, SiteRepoURL: "https://example.com/acme/site", SiteSHA: sha,
		Sections: map[string]dossier.SectionFrontmatter{},
	}
	for _, s := range dossier.Sections() {
		c.Sections[s] = dossier.SectionFrontmatter{Required: []string{}, Optional: []string{}, Types: map[string]string{}}
	}
	c.Sections[dossier.Docs] = dossier.SectionFrontmatter{
		Sampled: 3, Required: []string{"title", "weight"}, Optional: []string{"tags"},
		Types: map[string]string{"title": "string", "weight": "number", "tags": "list", "date": "date"},
	}
	return c
}

func context() dossier.SiteContext {
	return dossier.SiteContext{
		SchemaVersion: dossier.SchemaVersion,
		Site:          dossier.PinnedRepo{RepoURL: "https://example.com/acme/site", RequestedRef: "main", ResolvedSHA: sha},
		Hugo: dossier.HugoConfig{
			ConfigRoot: ".", ConfigFiles: []dossier.ConfigFile{}, DefaultLanguage: "en", Languages: []string{"en", "fr"},
			BaseURL: "https://docs.example.com/",
		},
		Layout: dossier.SiteLayout{
			ContentRoot:    "content",
			SubdomainRoots: map[string]string{"docs": "content/docs", "blog": "content/blog"},
			Localization:   dossier.Localization{ModeBySection: map[string]string{"docs": "none", "blog": "none"}},
		},
		AllowedPaths: []string{"content/**"},
	}
}

func inventory() dossier.RepoInventory {
	return dossier.RepoInventory{
		SchemaVersion: dossier.SchemaVersion, RepoURL: "https://example.com/acme/widget", RepoSHA: sha,
		Fingerprint: strings.Repeat("0", 64),
		Profile: dossier.RepoProfile{
			PlatformFamily: "go", PrimaryLanguages: []dossier.LanguageShare{}, BuildSystems: []string{},
			Manifests: []dossier.Manifest{}, TestCommands: []string{}, ProductType: "library",
		},
		Paths:          []dossier.RepoFile{{Path: "README.md", Size: 40, SHA256: strings.Repeat("0", 64), Role: "doc"}},
		DocEntrypoints: []string{}, ExamplePaths: []string{}, SourceRoots: []string{}, TestRoots: []string{}, DocRoots: []string{},
		ExampleRoots: []string{}, BinaryAssets: []string{}, PhantomPaths: []dossier.PhantomPath{}, Skipped: []dossier.SkippedPath{},
	}
}

func facts() dossier.ProductFacts {
	return dossier.ProductFacts{
		SchemaVersion: dossier.SchemaVersion, ProductName: "Widget", ProductSlug: "widget",
		RepoURL: "https://example.com/acme/widget", RepoSHA: sha, SupportedPlatforms: []dossier.Fact{}, Claims: []string{},
		ClaimGroups: dossier.ClaimGroups{
			KeyFeatures: []string{}, InstallSteps: []string{}, QuickstartSteps: []string{}, WorkflowClaims: []string{},
			Limitations: []string{}, CompatibilityNotes: []string{},
		},
		SupportedFormats: []dossier.FormatFact{}, Workflows: []dossier.Workflow{},
		Distribution: []dossier.Distribution{{Method: "go", Identifier: "example.com/widget", InstallCommands: []string{"go get example.com/widget"}, ClaimID: "c1111111111111111"}},
		Runtime:      []dossier.Fact{}, Dependencies: []dossier.Fact{},
		APISurface: dossier.APISurface{Status: "not_extracted", Reason: "none", Modules: []dossier.APIModule{}},
		Examples:   []dossier.Example{}, Missing: []string{},
	}
}

func evidence() dossier.EvidenceMap {
	claim := func(id, text, path string, start, end int) dossier.Claim {
		return dossier.Claim{ID: id, Text: text, Kind: "feature", Truth: "fact", Citations: []dossier.Citation{
			{Path: path, StartLine: start, EndLine: end, SourceType: "readme_technical"},
		}}
	}
	return dossier.EvidenceMap{
		SchemaVersion: dossier.SchemaVersion, RepoURL: "https://example.com/acme/widget", RepoSHA: sha,
		Claims:         []dossier.Claim{claim("c1111111111111111", "Widget reads and writes files.", "README.md", 1, 2)},
		Contradictions: []dossier.Contradiction{},
	}
}

func catalog() dossier.SnippetCatalog {
	snippet := func(id, syntax, why, content string) dossier.Snippet {
		return dossier.Snippet{
			ID: id, Path: "README.md", StartLine: 1, EndLine: 2, Language: "go", Origin: "fence", Title: "Use", Tags: []string{},
			Syntax: syntax, SyntaxErr: why, Content: content,
		}
	}
	return dossier.SnippetCatalog{SchemaVersion: dossier.SchemaVersion, RepoSHA: sha, Snippets: []dossier.Snippet{
		snippet("s1111111111111111", "valid", "", "w := widget.New()\nw.Run()\n"),
		snippet("s2222222222222222", "invalid", "1:5: expected ';'", "x := := 1\n"),
	}}
}

func plan() dossier.PagePlan {
	return dossier.PagePlan{
		SchemaVersion: dossier.SchemaVersion, ProductSlug: "widget", LaunchTier: "standard",
		TierAdjustments: []dossier.TierChange{}, ProductType: "library", Quotas: map[string]int{},
		Pages: []dossier.PlannedPage{{
			Section: "docs", Slug: "start", OutputPath: "content/docs/start.md", URLPath: "/docs/start/", Title: "Get started: Widget",
			Description: "How to start.", Purpose: "Start.", Role: "landing", Template: "landing", Weight: 7,
			RequiredHeadings: []string{}, RequiredClaims: []string{}, Snippets: []string{}, CrossLinks: []string{},
		}},
		Omitted: []dossier.OmittedPage{},
	}
}
