package dossier

// PagePlan lists the pages to write: page_plan.json.
type PagePlan struct {
	SchemaVersion   string         `json:"schema_version"`
	ProductSlug     string         `json:"product_slug"`
	LaunchTier      string         `json:"launch_tier"`
	TierAdjustments []TierChange   `json:"launch_tier_adjustments"`
	ProductType     string         `json:"inferred_product_type"`
	EvidenceVolume  EvidenceVolume `json:"evidence_volume"`
	Quotas          map[string]int `json:"effective_quotas"` // section → pages
	Pages           []PlannedPage  `json:"pages"`            // by section order, then output path
	Omitted         []OmittedPage  `json:"omitted"`          // wanted by the ruleset, without evidence
}

// TierChange says why a launch got another tier than it asked for.
type TierChange struct {
	Adjustment string `json:"adjustment"` // elevated, reduced, unchanged
	Reason     string `json:"reason"`
	From       string `json:"from_tier"`
	To         string `json:"to_tier"`
}

// EvidenceVolume is what the plan was sized by. Score = 2·claims + 3·snippets + symbols.
type EvidenceVolume struct {
	Claims   int `json:"claims"`
	Snippets int `json:"snippets"`
	Symbols  int `json:"api_symbols"`
	Score    int `json:"score"`
}

// PlannedPage is one page and its contract.
type PlannedPage struct {
	Section          string   `json:"section"`
	Slug             string   `json:"slug"`
	OutputPath       string   `json:"output_path"` // relative to the site's root
	URLPath          string   `json:"url_path"`    // "/docs/x/"; unique in the plan
	Title            string   `json:"title"`
	Description      string   `json:"description"`
	Purpose          string   `json:"purpose"`
	Role             string   `json:"page_role"` // landing, toc, comprehensive_guide, workflow_page, feature_showcase, troubleshooting, api_reference, announcement
	Template         string   `json:"template"`
	Weight           int      `json:"weight"`
	RequiredHeadings []string `json:"required_headings"`
	RequiredClaims   []string `json:"required_claim_ids"`
	Snippets         []string `json:"snippet_ids"`
	CrossLinks       []string `json:"cross_links"` // url paths of other planned pages
	Subject          string   `json:"subject"`     // module, workflow tag or the like that the template writes about
}

// OmittedPage is a page that the ruleset wants and the evidence does not carry.
type OmittedPage struct {
	Section string `json:"section"`
	Slug    string `json:"slug"`
	Reason  string `json:"reason"`
}

// PatchBundle is every change to make to the site: patch_bundle.json.
type PatchBundle struct {
	SchemaVersion string  `json:"schema_version"`
	BaseRef       string  `json:"base_ref"` // the site's pinned commit
	Patches       []Patch `json:"patches"`  // in the order in which they apply
}

// The types of a patch.
const (
	CreateFile            = "create_file"
	UpdateFileRange       = "update_file_range"
	UpdateByAnchor        = "update_by_anchor"
	UpdateFrontmatterKeys = "update_frontmatter_keys"
	DeleteFile            = "delete_file"
)

// Patch is one change to one file. ContentHash is the SHA-256 of what the patch
// brings; ExpectedBeforeHash, when set, of the whole file that it expects.
type Patch struct {
	ID                 string            `json:"patch_id"`
	Type               string            `json:"type"`
	Path               string            `json:"path"` // relative to the site's root
	ContentHash        string            `json:"content_hash"`
	ExpectedBeforeHash string            `json:"expected_before_hash,omitempty"`
	NewContent         string            `json:"new_content,omitempty"`
	StartLine          int               `json:"start_line,omitempty"`          // update_file_range: first line replaced, from 1
	EndLine            int               `json:"end_line,omitempty"`            // last line replaced, inclusive
	Anchor             string            `json:"anchor,omitempty"`              // update_by_anchor: the exact line after which the content goes
	FrontmatterUpdates map[string]string `json:"frontmatter_updates,omitempty"` // key → YAML scalar
}
