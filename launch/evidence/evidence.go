// Package evidence gathers what a product repository states about the product,
// each statement tied to the lines that support it.
//
// It reads the work tree that the inventory lists and nothing else: no network,
// no process, no code of the repository is executed. Text is parsed, never
// guessed at: Markdown by goldmark, Go by go/parser, JSON, YAML, TOML and XML by
// their parsers; reStructuredText, JavaScript and Python by small readers that
// know strings and comments and say that their answer is partial.
//
// The path of a claim: a document becomes blocks (markdown.go, rst.go), a block
// becomes sentences (sentences.go), a sentence passes the rules (rules.go: data)
// or is dropped, and what passes is a claim with a kind, an anchor and the exact
// lines (claims.go). Fewer and right beats many and wrong: a sentence that needs
// its neighbours, talks of itself or its reader, or only points elsewhere is no
// claim. Manifests (manifests.go) and source (api*.go) state facts of their own.
// Where two sources disagree, the one of higher authority holds and the
// disagreement is recorded (contradictions.go).
//
// The result depends on the content of the tree alone: lists have a total order
// and nothing holds a time.
package evidence

import (
	"context"
	"os"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Options says how the product is called and by which rules its claims are named.
type Options struct {
	ProductName    string // as written in sentences; empty: as the project writes it
	RepoName       string // what the repository is called, for a project that does not write it
	ProductSlug    string
	RulesetVersion string // part of every claim id
	AllowInference bool   // also state what follows from the tree but stands nowhere
}

// Result is what the repository states.
type Result struct {
	Facts     dossier.ProductFacts
	Evidence  dossier.EvidenceMap
	Snippets  dossier.SnippetCatalog
	TruthLock dossier.TruthLockReport // of the evidence alone: no page is written yet
}

// Gather reads the work tree at dir, which inv lists. A repository that says
// little gives a small result with the gaps in Facts.Missing, not an error: it
// fails only when dir cannot be opened, or when ctx ends.
func Gather(ctx context.Context, dir string, inv dossier.RepoInventory, opts Options) (Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Result{}, fault.New(fault.RepoNotFound, "the work tree of the product repository cannot be opened").Because(err)
	}
	defer root.Close()

	g := newGatherer(root, inv, opts)
	for _, step := range []func(context.Context){
		g.readDocuments, g.nameProduct, g.fromManifests, g.fromLicense, g.fromDocuments, g.fromSource, g.collectSnippets, g.position, g.infer, g.compare,
	} {
		step(ctx)
		if ctx.Err() != nil {
			return Result{}, fault.From(ctx.Err())
		}
	}
	return g.result(), nil
}

// gatherer is one repository while its evidence is gathered.
type gatherer struct {
	root   *os.Root
	inv    dossier.RepoInventory
	opts   Options
	name   string // the product's name in sentences
	docs   []document
	claims claimSet
	facts  dossier.ProductFacts

	snippets   []dossier.Snippet
	statements []statement // values that are stated more than once
	conflicts  []dossier.Contradiction
	firstLines []*dossier.Claim  // the README's opening sentences
	unread     []string          // documents that could not be read as prose
	leftOut    int               // documents beyond the bounds
	packages   map[string]string // import path → package name, of Go
	repeats    map[string]bool   // claims that say what a manifest's claim says
}

func newGatherer(root *os.Root, inv dossier.RepoInventory, opts Options) *gatherer {
	g := &gatherer{root: root, inv: inv, opts: opts, name: productName(opts, inv), packages: map[string]string{}, repeats: map[string]bool{}}
	g.claims = newClaimSet(opts.RulesetVersion)
	g.facts = dossier.ProductFacts{
		SchemaVersion: dossier.SchemaVersion, ProductName: g.name, ProductSlug: opts.ProductSlug,
		RepoURL: inv.RepoURL, RepoSHA: inv.RepoSHA,
		SupportedPlatforms: []dossier.Fact{}, SupportedFormats: []dossier.FormatFact{}, Workflows: []dossier.Workflow{},
		Distribution: []dossier.Distribution{}, Runtime: []dossier.Fact{}, Dependencies: []dossier.Fact{},
		APISurface: dossier.APISurface{Modules: []dossier.APIModule{}}, Examples: []dossier.Example{}, Missing: []string{},
	}
	return g
}
