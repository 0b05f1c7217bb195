package dossier

// ProductFacts is what is known of the product: product_facts.json. Each fact
// is a claim id of the evidence map.
type ProductFacts struct {
	SchemaVersion      string         `json:"schema_version"`
	ProductName        string         `json:"product_name"`
	ProductSlug        string         `json:"product_slug"`
	RepoURL            string         `json:"repo_url"`
	RepoSHA            string         `json:"repo_sha"`
	Positioning        Positioning    `json:"positioning"`
	Version            *Fact          `json:"version,omitempty"`
	License            *Fact          `json:"license,omitempty"`
	SupportedPlatforms []Fact         `json:"supported_platforms"`
	Claims             []string       `json:"claims"` // every claim id, in the evidence map's order
	ClaimGroups        ClaimGroups    `json:"claim_groups"`
	SupportedFormats   []FormatFact   `json:"supported_formats"`
	Workflows          []Workflow     `json:"workflows"`
	Distribution       []Distribution `json:"distribution"`
	Runtime            []Fact         `json:"runtime_requirements"`
	Dependencies       []Fact         `json:"dependencies"`
	APISurface         APISurface     `json:"api_surface_summary"`
	Examples           []Example      `json:"example_inventory"`
	Missing            []string       `json:"missing"` // what a page would want and the repository does not say, in plain sentences
}

// Fact is a value with the claim that supports it.
type Fact struct {
	Value   string `json:"value"`
	ClaimID string `json:"claim_id"`
}

// Positioning is how the project presents itself. A claim id is empty only
// where the text is.
type Positioning struct {
	Tagline          Fact `json:"tagline"`
	ShortDescription Fact `json:"short_description"`
}

// ClaimGroups sorts claim ids by what a page uses them for.
type ClaimGroups struct {
	KeyFeatures        []string `json:"key_features"`
	InstallSteps       []string `json:"install_steps"`
	QuickstartSteps    []string `json:"quickstart_steps"`
	WorkflowClaims     []string `json:"workflow_claims"`
	Limitations        []string `json:"limitations"`
	CompatibilityNotes []string `json:"compatibility_notes"`
}

// FormatFact is a file format that the product is said to handle.
type FormatFact struct {
	Format  string `json:"format"`
	Status  string `json:"status"` // implemented, planned, unknown
	ClaimID string `json:"claim_id"`
}

// Workflow is something a user does with the product: a section of its
// documentation with the claims and snippets in it. "usage/errors" is the tag of
// the part "errors" of "usage".
type Workflow struct {
	Tag         string   `json:"workflow_tag"`
	Title       string   `json:"title"`
	ClaimIDs    []string `json:"claim_ids"`
	SnippetTags []string `json:"snippet_tags"`
}

// Distribution is one way to obtain the product.
type Distribution struct {
	Method          string   `json:"method"` // pip, nuget, maven, npm, cargo, go, composer, gem, swift, docker, source, other
	Identifier      string   `json:"identifier"`
	InstallCommands []string `json:"install_commands"`
	ClaimID         string   `json:"claim_id"`
}

// APISurface is the public API as read from source.
type APISurface struct {
	Status  string      `json:"status"` // extracted, partial, not_extracted
	Reason  string      `json:"reason"` // why not, or what is missing; empty when extracted
	Modules []APIModule `json:"modules"`
	Symbols int         `json:"symbols"`
}

// APIModule is one package or module with its exported symbols.
type APIModule struct {
	Name    string      `json:"name"`
	Path    string      `json:"path"`
	Doc     string      `json:"doc"`      // first sentence of its documentation, inline Markdown
	ClaimID string      `json:"claim_id"` // the claim that it exists and what its doc says
	Symbols []APISymbol `json:"symbols"`
}

// APISymbol is one exported name.
type APISymbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"` // func, method, type, interface, const, var, class
	Signature string `json:"signature"`
	Doc       string `json:"doc"` // first sentence, inline Markdown
	Path      string `json:"path"`
	Line      int    `json:"line"`
	ClaimID   string `json:"claim_id"`
}

// Example is one example of the repository.
type Example struct {
	ID             string   `json:"example_id"`
	Title          string   `json:"title"`
	Tags           []string `json:"tags"`
	PrimarySnippet string   `json:"primary_snippet_id"`
}

// EvidenceMap ties every claim to the lines that support it: evidence_map.json.
type EvidenceMap struct {
	SchemaVersion  string          `json:"schema_version"`
	RepoURL        string          `json:"repo_url"`
	RepoSHA        string          `json:"repo_sha"`
	Claims         []Claim         `json:"claims"` // by id
	Contradictions []Contradiction `json:"contradictions"`
}

// Claim is one statement of fact about the product. ID is "c" and 16 hex digits
// of SHA-256(normalised text, anchor, ruleset version).
type Claim struct {
	ID        string     `json:"claim_id"`
	Text      string     `json:"claim_text"`   // one sentence, Markdown inline only
	Kind      string     `json:"claim_kind"`   // feature, install, quickstart, workflow, limitation, compatibility, api, metadata, format
	Truth     string     `json:"truth_status"` // fact, inference
	Citations []Citation `json:"citations"`
}

// Citation is a range of lines in the repository. Source types in order of
// authority: manifest, source_code, test, implementation_doc, api_doc,
// readme_technical, readme_marketing.
type Citation struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	SourceType string `json:"source_type"`
}

// Contradiction is a pair of claims that cannot both hold.
type Contradiction struct {
	ClaimA     string `json:"claim_a_id"`
	ClaimB     string `json:"claim_b_id"`
	Resolution string `json:"resolution"`       // prefer_higher_priority, prefer_more_specific, prefer_implementation_notes, unresolved
	Winner     string `json:"winning_claim_id"` // "" while unresolved
}

// SnippetCatalog lists every piece of code that a page may show: snippet_catalog.json.
type SnippetCatalog struct {
	SchemaVersion string    `json:"schema_version"`
	RepoSHA       string    `json:"repo_sha"`
	Snippets      []Snippet `json:"snippets"` // by path, then line
}

// Snippet is a code fence of a document or an example file. ID is "s" and 16
// hex digits of SHA-256(path, line range, content).
type Snippet struct {
	ID        string   `json:"snippet_id"`
	Path      string   `json:"path"`
	StartLine int      `json:"start_line"`
	EndLine   int      `json:"end_line"`
	Language  string   `json:"language"` // lower-case fence word, "unknown" when there is none
	Origin    string   `json:"origin"`   // fence, example_file
	Title     string   `json:"title"`    // nearest heading, or the file's name
	Lead      string   `json:"lead"`     // sentence of the document that introduces it, inline Markdown that ends with a colon; "" if there is none
	Tags      []string `json:"tags"`     // install, quickstart, example, config, output, and slugs of the headings above
	Syntax    string   `json:"syntax"`   // valid, invalid, unchecked
	SyntaxErr string   `json:"syntax_error"`
	Content   string   `json:"content"` // LF line ends, no trailing white space, one final newline
}

// TruthLockReport says which page may state which claims: truth_lock_report.json.
type TruthLockReport struct {
	SchemaVersion      string          `json:"schema_version"`
	OK                 bool            `json:"ok"`
	Pages              []TruthLockPage `json:"pages"`
	UnresolvedClaimIDs []string        `json:"unresolved_claim_ids"`
	InferredClaimIDs   []string        `json:"inferred_claim_ids"`
	ForbiddenInferred  []string        `json:"forbidden_inferred_claim_ids"`
	Issues             []Issue         `json:"issues"`
}

// TruthLockPage lists the claims of one page.
type TruthLockPage struct {
	Path     string   `json:"path"`
	ClaimIDs []string `json:"claim_ids"`
}
