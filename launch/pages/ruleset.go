package pages

import (
	"bytes"
	"encoding/json"
	"io/fs"

	"github.com/gantry-run/gantry/internal/fault"
)

// Ruleset says which pages a launch wants: specs/rulesets/<name>.json.
type Ruleset struct {
	Version            string             `json:"version"`
	Tiers              map[string]float64 `json:"tiers"`                // tier → share of a section's largest number of pages
	MinimalBelowClaims int                `json:"minimal_below_claims"` // with fewer claims the tier is minimal
	EvidencePerPage    int                `json:"evidence_per_page"`    // score that carries one page
	Quotas             map[string]Quota   `json:"quotas"`               // section → number of pages
	GuideEvidence      int                `json:"guide_evidence"`       // claims and snippets that make a workflow a guide of its own
	FirstSteps         []string           `json:"first_steps"`          // tags of workflows that serve as first steps where none are told, the best first
	SkipWorkflows      []string           `json:"skip_workflows"`       // tags that are no guide: what other pages tell, and housekeeping
	Pages              []Rule             `json:"pages"`                // in the order in which a section's quota is given out
}

// Quota bounds a section's number of pages.
type Quota struct {
	Min int `json:"min"`
	Max int `json:"max"` // in the richest tier
}

// Rule wants one page, or one for each workflow or API module. Title,
// Description and Purpose may hold {product}, {subject} and {summary}: the first
// sentence of the page. Section and Template together name the rule.
type Rule struct {
	Section     string  `json:"section"`
	Folder      string  `json:"folder"`   // below the product's folder; empty for that itself
	Slug        string  `json:"slug"`     // "_index" for a folder's own page; empty: from the subject
	ForEach     string  `json:"for_each"` // "", "workflow", "module"
	Template    string  `json:"template"`
	Role        string  `json:"role"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Purpose     string  `json:"purpose"`
	Weight      int     `json:"weight"`
	MinClaims   int     `json:"min_claims"`
	MinSnippets int     `json:"min_snippets"`
	MinEvidence int     `json:"min_evidence"` // claims and snippets together
	NeedsSource string  `json:"needs_source"` // left out when the block of this source has no content
	NeedsPages  bool    `json:"needs_pages"`  // left out when no other page lies in its folder
	Blocks      []Block `json:"blocks"`
}

// Block is a part of a page: a heading, which may be empty, and what follows
// from its source. The sources are listed in sources.go.
type Block struct {
	Source      string `json:"source"`
	Heading     string `json:"heading"`
	MaxClaims   int    `json:"max_claims"`
	MaxSnippets int    `json:"max_snippets"`
}

// LoadRuleset reads the folder "rulesets" of specs and returns the ruleset of the
// version. It fails with CONFIG_INVALID if there is none and with INTERNAL if a
// file cannot be read.
func LoadRuleset(specs fs.FS, version string) (Ruleset, error) {
	names, err := fs.Glob(specs, "rulesets/*.json")
	if err != nil {
		return Ruleset{}, fault.New(fault.Internal, "the rulesets cannot be listed").Because(err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(specs, name)
		if err != nil {
			return Ruleset{}, fault.New(fault.Internal, "ruleset %s cannot be read", name).Because(err)
		}
		var rules Ruleset
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&rules); err != nil {
			return Ruleset{}, fault.New(fault.Internal, "ruleset %s is not valid", name).Because(err)
		}
		if rules.Version == version {
			return rules, nil
		}
	}
	return Ruleset{}, fault.New(fault.ConfigInvalid, "there is no ruleset of version %q", version).
		WithHint("Leave ruleset_version out to get the default.")
}

// rule returns the rule that a planned page follows.
func (r Ruleset) rule(section, template string) (Rule, bool) {
	for _, rule := range r.Pages {
		if rule.Section == section && rule.Template == template {
			return rule, true
		}
	}
	return Rule{}, false
}
