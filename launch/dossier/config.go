package dossier

// Config is the effective run_config: what the caller gave, with every default
// filled in. Its schema is specs/artifacts/run_config.schema.json. Only
// GithubRepoURL must come from the caller.
type Config struct {
	SchemaVersion    string         `json:"schema_version" yaml:"schema_version"`
	ProductSlug      string         `json:"product_slug" yaml:"product_slug"`
	ProductName      string         `json:"product_name" yaml:"product_name"`
	Family           string         `json:"family" yaml:"family"`
	TargetPlatform   string         `json:"target_platform" yaml:"target_platform"`
	GithubRepoURL    string         `json:"github_repo_url" yaml:"github_repo_url"`
	GithubRef        string         `json:"github_ref,omitempty" yaml:"github_ref,omitempty"` // branch, tag or SHA; pinned by clone_inputs
	SiteRepoURL      string         `json:"site_repo_url,omitempty" yaml:"site_repo_url,omitempty"`
	SiteRef          string         `json:"site_ref,omitempty" yaml:"site_ref,omitempty"`
	RequiredSections []string       `json:"required_sections" yaml:"required_sections"`
	SiteLayout       *SiteLayout    `json:"site_layout,omitempty" yaml:"site_layout,omitempty"`     // nil: found by looking
	AllowedPaths     []string       `json:"allowed_paths,omitempty" yaml:"allowed_paths,omitempty"` // empty: derived from the layout
	Locale           string         `json:"locale" yaml:"locale"`
	LaunchTier       string         `json:"launch_tier" yaml:"launch_tier"` // minimal, standard, rich
	ProductType      string         `json:"product_type,omitempty" yaml:"product_type,omitempty"`
	Profile          string         `json:"validation_profile" yaml:"validation_profile"` // local, ci, prod
	AllowInference   bool           `json:"allow_inference" yaml:"allow_inference"`
	MaxFixAttempts   int            `json:"max_fix_attempts" yaml:"max_fix_attempts"` // per issue
	Publisher        string         `json:"publisher" yaml:"publisher"`               // local, github, commit_service
	GitHub           *GitHub        `json:"github,omitempty" yaml:"github,omitempty"`
	CommitService    *CommitService `json:"commit_service,omitempty" yaml:"commit_service,omitempty"`
	Autopilot        Autopilot      `json:"autopilot" yaml:"autopilot"`
	Budgets          Budgets        `json:"budgets" yaml:"budgets"`
	CanonicalURLs    *CanonicalURLs `json:"canonical_urls,omitempty" yaml:"canonical_urls,omitempty"`
	CIStrictness     string         `json:"ci_strictness,omitempty" yaml:"ci_strictness,omitempty"` // relaxed, strict (also when empty): whether warnings fail in profile ci
	Hugo             *Hugo          `json:"hugo,omitempty" yaml:"hugo,omitempty"`
	ExternalLinks    *ExternalLinks `json:"external_links,omitempty" yaml:"external_links,omitempty"`
	LLM              *LLM           `json:"llm,omitempty" yaml:"llm,omitempty"`           // nil: templates only
	Workflow         string         `json:"workflow,omitempty" yaml:"workflow,omitempty"` // path of a node table of one's own
	RulesetVersion   string         `json:"ruleset_version" yaml:"ruleset_version"`
	TemplatesVersion string         `json:"templates_version" yaml:"templates_version"`
}

// GitHub says where the publisher github opens the pull request.
type GitHub struct {
	APIBaseURL string   `json:"api_base_url,omitempty" yaml:"api_base_url,omitempty"` // derived from the site's remote
	TokenEnv   string   `json:"token_env,omitempty" yaml:"token_env,omitempty"`       // variable that holds the token; GITHUB_TOKEN
	Repository string   `json:"repository,omitempty" yaml:"repository,omitempty"`     // owner/name; derived from the site's remote
	BaseBranch string   `json:"base_branch,omitempty" yaml:"base_branch,omitempty"`   // site_ref, else the repository's default branch
	Labels     []string `json:"labels,omitempty" yaml:"labels,omitempty"`
}

// CommitService says which service commits and opens the pull request. Its templates may
// hold {product_slug}, {github_repo_url}, {github_ref}, {site_repo_url}, {site_ref} and {run_id}.
type CommitService struct {
	EndpointURL           string        `json:"endpoint_url" yaml:"endpoint_url"`
	TokenEnv              string        `json:"github_token_env" yaml:"github_token_env"` // variable that holds the token
	CommitMessageTemplate string        `json:"commit_message_template" yaml:"commit_message_template"`
	CommitBodyTemplate    string        `json:"commit_body_template" yaml:"commit_body_template"`
	AuthorName            string        `json:"author_name,omitempty" yaml:"author_name,omitempty"` // of the local commit
	AuthorEmail           string        `json:"author_email,omitempty" yaml:"author_email,omitempty"`
	Governance            *AIGovernance `json:"ai_governance_metadata,omitempty" yaml:"ai_governance_metadata,omitempty"`
}

// AIGovernance is passed on to the commit service as it was given.
type AIGovernance struct {
	Approval BranchApproval `json:"ag001_approval" yaml:"ag001_approval"`
}

// BranchApproval says who approved that a program makes a branch.
type BranchApproval struct {
	Approved  bool   `json:"approved" yaml:"approved"`
	Source    string `json:"approval_source" yaml:"approval_source"` // interactive-dialog, manual-marker, config-override
	Timestamp string `json:"timestamp" yaml:"timestamp"`             // RFC 3339
	Approver  string `json:"approver,omitempty" yaml:"approver,omitempty"`
}

// Autopilot lifts the two pauses of a launch.
type Autopilot struct {
	Fix    bool `json:"fix" yaml:"fix"`         // fix what validation finds without being asked
	OpenPR bool `json:"open_pr" yaml:"open_pr"` // open the pull request without being asked
}

// Hugo says which of the gates that have to do with Hugo run. Nil stands for yes.
type Hugo struct {
	ConfigDir         string `json:"config_dir,omitempty" yaml:"config_dir,omitempty"`                   // without effect
	ConfigSnapshotDir string `json:"config_snapshot_dir,omitempty" yaml:"config_snapshot_dir,omitempty"` // without effect
	UseConfigGate     *bool  `json:"use_config_gate,omitempty" yaml:"use_config_gate,omitempty"`
	Build             *bool  `json:"build,omitempty" yaml:"build,omitempty"`
}

// ExternalLinks says whether links out of the site are asked.
type ExternalLinks struct {
	Check bool `json:"check" yaml:"check"`
}

// Budgets bound one run.
type Budgets struct {
	MaxRuntimeS      int `json:"max_runtime_s" yaml:"max_runtime_s"`
	MaxLLMCalls      int `json:"max_llm_calls" yaml:"max_llm_calls"`
	MaxLLMTokens     int `json:"max_llm_tokens" yaml:"max_llm_tokens"`
	MaxFileWrites    int `json:"max_file_writes" yaml:"max_file_writes"`
	MaxPatchAttempts int `json:"max_patch_attempts" yaml:"max_patch_attempts"`
	MaxLinesPerFile  int `json:"max_lines_per_file" yaml:"max_lines_per_file"`
	MaxFilesChanged  int `json:"max_files_changed" yaml:"max_files_changed"`
}

// CanonicalURLs are the public addresses that pages must agree with.
type CanonicalURLs struct {
	Product   string `json:"product,omitempty" yaml:"product,omitempty"`
	Docs      string `json:"docs,omitempty" yaml:"docs,omitempty"`
	Reference string `json:"reference,omitempty" yaml:"reference,omitempty"`
}

// SiteLayout says where a site keeps its content. Paths are relative to the
// site's root and use forward slashes.
type SiteLayout struct {
	ContentRoot    string            `json:"content_root" yaml:"content_root"`       // "content"
	SubdomainRoots map[string]string `json:"subdomain_roots" yaml:"subdomain_roots"` // section → folder, "content/docs"
	Localization   Localization      `json:"localization" yaml:"localization"`
}

// Localization says how each section marks a page's language: "dir" (a folder
// named after it), "filename" (post.fr.md) or "none" (one language, unmarked).
type Localization struct {
	ModeBySection map[string]string `json:"mode_by_section" yaml:"mode_by_section"`
}

// Defaults returns the values that hold where the caller says nothing and
// nothing can be derived from the repository or the site.
func Defaults() Config {
	return Config{
		SchemaVersion:    SchemaVersion,
		RequiredSections: []string{Docs, Reference, Blog},
		Locale:           "en",
		LaunchTier:       "standard",
		Profile:          "local",
		MaxFixAttempts:   3,
		Publisher:        "local",
		RulesetVersion:   "ruleset.v1",
		TemplatesVersion: "templates.v1",
		Budgets: Budgets{
			MaxRuntimeS: 3600, MaxLLMCalls: 500, MaxLLMTokens: 1_000_000, MaxFileWrites: 100,
			MaxPatchAttempts: 5, MaxLinesPerFile: 500, MaxFilesChanged: 100,
		},
	}
}
