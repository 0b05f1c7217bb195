package dossier

// SiteContext is what was found of the documentation site: site_context.json.
type SiteContext struct {
	SchemaVersion string     `json:"schema_version"`
	Site          PinnedRepo `json:"site"`
	Embedded      bool       `json:"embedded"` // the built-in minimal site is used
	Hugo          HugoConfig `json:"hugo"`
	Layout        SiteLayout `json:"site_layout"`
	AllowedPaths  []string   `json:"allowed_paths"` // effective, as globs: exact, dir/**, *
}

// PinnedRepo is a repository at a commit.
type PinnedRepo struct {
	RepoURL      string `json:"repo_url"`
	RequestedRef string `json:"requested_ref"`
	ResolvedSHA  string `json:"resolved_sha"`
}

// HugoConfig lists the site's configuration files.
type HugoConfig struct {
	ConfigRoot      string       `json:"config_root"`
	ConfigFiles     []ConfigFile `json:"config_files"` // by path
	DefaultLanguage string       `json:"default_language"`
	Languages       []string     `json:"languages"`
	LanguageInSub   bool         `json:"default_language_in_subdir"`
	BaseURL         string       `json:"base_url"`
}

// ConfigFile is one configuration file and its fingerprint.
type ConfigFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Ext    string `json:"ext"`
}

// FrontmatterContract says what front matter each section's pages carry:
// frontmatter_contract.json. It is sampled from the pages that exist, or the
// default where there are none.
type FrontmatterContract struct {
	SchemaVersion string                        `json:"schema_version"`
	SiteRepoURL   string                        `json:"site_repo_url"`
	SiteSHA       string                        `json:"site_sha"`
	Sections      map[string]SectionFrontmatter `json:"sections"` // all five
}

// SectionFrontmatter is the contract of one section.
type SectionFrontmatter struct {
	Sampled  int               `json:"sampled_pages"`
	Required []string          `json:"required_keys"` // sorted
	Optional []string          `json:"optional_keys"` // sorted
	Types    map[string]string `json:"types"`         // key → string, number, boolean, date, list, map
}
