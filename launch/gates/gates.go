// Package gates checks what a launch made, before anybody is asked to merge it.
//
// A gate looks at the pages that the launch changed, with the whole site and
// the launch's artifacts as context, and returns issues: what is wrong, where,
// under which code, and what to do about it. Gates only read. They share no
// state and run one after the other in the order of [All]; each has a time
// limit. A gate that panics, fails or runs out of time becomes an issue itself,
// a blocker, so that a report is never ok because a gate did not run.
//
// Reports are deterministic: ids are hashes of what they name, every list has a
// total order, and nothing holds a time or an absolute path. What a gate quotes
// from a page is cut and quoted, so a hostile page cannot forge a report.
//
// To add a gate, write one file with a function that returns it, and a line in
// [All]; a test wants a site that breaks it in each of its codes.
//
// Some gates also export their findings in detail (a [BrokenLink] knows its
// link, an issue only its line), for package fixes to act on.
package gates

import (
	"context"
	"os"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
)

// The codes of the issues. The registry is specs/errors.json.
const (
	SchemaValidationFailed       = "GATE_SCHEMA_VALIDATION_FAILED"
	FrontmatterInvalid           = "GATE_FRONTMATTER_INVALID_YAML"
	FrontmatterMissing           = "GATE_FRONTMATTER_MISSING"
	FrontmatterFieldMissing      = "GATE_FRONTMATTER_REQUIRED_FIELD_MISSING"
	FrontmatterTypeMismatch      = "GATE_FRONTMATTER_TYPE_MISMATCH"
	LinkBrokenInternal           = "GATE_LINK_BROKEN_INTERNAL"
	LinkBrokenAnchor             = "GATE_LINK_BROKEN_ANCHOR"
	LinkBrokenRelative           = "GATE_LINK_BROKEN_RELATIVE"
	SnippetNotInCatalog          = "GATE_SNIPPET_NOT_IN_CATALOG"
	SnippetSyntaxError           = "GATE_SNIPPET_SYNTAX_ERROR"
	UncitedFact                  = "GATE_TRUTHLOCK_UNCITED_FACT"
	InvalidClaimID               = "GATE_TRUTHLOCK_INVALID_CLAIM_ID"
	UnresolvedContradiction      = "GATE_TRUTHLOCK_UNRESOLVED_CONTRADICTION"
	EvidenceMissing              = "GATE_TRUTHLOCK_EVIDENCE_MISSING"
	TemplateTokenUnresolved      = "GATE_TEMPLATE_TOKEN_UNRESOLVED"
	MarkdownLintError            = "GATE_MARKDOWN_LINT_ERROR"
	MarkdownHeadingOrder         = "GATE_MARKDOWN_HEADING_ORDER"
	MarkdownAltMissing           = "GATE_MARKDOWN_ALT_TEXT_MISSING"
	HugoConfigMissing            = "GATE_HUGO_CONFIG_MISSING"
	HugoPathMismatch             = "GATE_HUGO_CONFIG_PATH_MISMATCH"
	HugoSubdomainNotEnabled      = "GATE_HUGO_CONFIG_SUBDOMAIN_NOT_ENABLED"
	HugoConfigChanged            = "GATE_HUGO_CONFIG_CHANGED"
	HugoBuildFailed              = "GATE_HUGO_BUILD_FAILED"
	HugoBuildError               = "GATE_HUGO_BUILD_ERROR"
	HugoBuildTimeout             = "GATE_HUGO_BUILD_TIMEOUT"
	LinkUnreachable              = "GATE_LINK_EXTERNAL_UNREACHABLE"
	LinkTimeout                  = "GATE_LINK_EXTERNAL_TIMEOUT"
	SnippetLanguageMismatch      = "GATE_SNIPPET_LANGUAGE_MISMATCH"
	ProductNameMismatch          = "GATE_CONSISTENCY_PRODUCT_NAME_MISMATCH"
	RepoURLMismatch              = "GATE_CONSISTENCY_REPO_URL_MISMATCH"
	CanonicalURLMismatch         = "GATE_CONSISTENCY_CANONICAL_URL_MISMATCH"
	RequiredHeadingMissing       = "GATE_CONSISTENCY_REQUIRED_HEADING_MISSING"
	RequiredSectionMissing       = "GATE_CONSISTENCY_REQUIRED_SECTION_MISSING"
	TierViolation                = "GATE_UNIVERSALITY_TIER_VIOLATION"
	LimitationsMissing           = "GATE_UNIVERSALITY_LIMITATIONS_MISSING"
	DistributionMismatch         = "GATE_UNIVERSALITY_DISTRIBUTION_MISMATCH"
	HiddenInference              = "GATE_UNIVERSALITY_HIDDEN_INFERENCE"
	RollbackMissing              = "PR_MISSING_ROLLBACK_METADATA"
	RollbackBaseRef              = "PR_INVALID_BASE_REF_FORMAT"
	RollbackNoSteps              = "PR_EMPTY_ROLLBACK_STEPS"
	RollbackNoPaths              = "PR_EMPTY_AFFECTED_PATHS"
	RollbackPathNotInDiff        = "PR_AFFECTED_PATH_NOT_IN_DIFF"
	PageRoleMissing              = "GATE14_PAGE_ROLE_MISSING"
	TOCHasSnippets               = "GATE14_TOC_HAS_SNIPPETS"
	TOCMissingChildren           = "GATE14_TOC_MISSING_CHILDREN"
	GuideIncomplete              = "GATE14_GUIDE_INCOMPLETE"
	ClaimQuotaUnderflow          = "GATE14_CLAIM_QUOTA_UNDERFLOW"
	ContentDuplicated            = "GATE14_CONTENT_DUPLICATED"
	MandatoryPageMissing         = "GATE14_MANDATORY_PAGE_MISSING"
	GateTimeout                  = "GATE_TIMEOUT"
	ValidatorGateExecutionFailed = "VALIDATOR_GATE_EXECUTION_FAILED"
)

// Input is what gates look at. Nothing in it is written to.
type Input struct {
	Site    *os.Root // the site's worktree
	Repo    *os.Root // the product's repository; nil: line ranges are held against file sizes alone
	Changed []string // files that the launch created or changed, relative to the site's root
	// Before returns a file of the site as it was before the launch, or
	// fs.ErrNotExist. What was wrong with a page before is not the launch's to
	// answer for, and no fix may take away what people wrote: such issues are
	// left out. Nil: there was nothing before.
	Before   func(name string) ([]byte, error)
	Artifact func(name string) ([]byte, error) // fs.ErrNotExist or ARTIFACT_NOT_FOUND if there is none
	Config   dossier.Config
	Context  dossier.SiteContext

	Env     []string                   // where programs are looked for; without a PATH there are none
	Scratch string                     // folder for what programs leave; "" and none is run
	Reach   func(address string) error // refuses addresses that may not be asked; nil refuses all

	parsed *parsedPages // of one RunAll; nil: each page is parsed whenever it is looked at
}

// Gate is one check.
type Gate struct {
	Name    string   // lower case words joined by underscores
	Title   string   // what it holds, in a few words
	Codes   []string // every code that its issues may have, apart from those of a gate that did not finish
	Timeout func(profile string) time.Duration
	// Run looks at everything and returns what it found, in any order. It
	// returns an error only if it could not look, and stops when ctx ends.
	Run func(ctx context.Context, in *Input) (Outcome, error)
}

// Outcome is what a gate found. The gate's name, the issues' ids and status are
// filled in by RunAll.
type Outcome struct {
	Issues  []dossier.Issue
	Checked int      // how many things it looked at
	Skipped string   // why it had nothing to look at; then there are no issues
	Notes   []string // lines for the gate's log besides the issues
}

// All returns every gate in the order in which they run.
func All() []Gate {
	return []Gate{
		schemaGate(),
		frontmatterGate(),
		markdownLintGate(),
		hugoConfigGate(),
		hugoBuildGate(),
		internalLinksGate(),
		externalLinksGate(),
		snippetsGate(),
		truthLockGate(),
		consistencyGate(),
		templateTokensGate(),
		universalityGate(),
		rollbackMetadataGate(),
		distributionGate(),
	}
}

// byProfile returns the severity that an issue has in the run's profile.
func (in *Input) byProfile(local, ci, prod string) string {
	switch in.Config.Profile {
	case "prod":
		return prod
	case "ci":
		return ci
	}
	return local
}

// within returns a timeout: local in the profile local, other elsewhere.
func within(local, other time.Duration) func(string) time.Duration {
	return func(profile string) time.Duration {
		if profile == "local" {
			return local
		}
		return other
	}
}
