// Package quickstart turns an address into what a launch needs to know.
//
// There are two ways in. A product page's URL is parsed with a Profile: which
// hosts a site has, which product families and platforms its paths name, and
// where their repositories are. Profiles are data (specs/sites/*.json, and what a
// configuration adds), so no site is known to the code. A repository's URL says
// less, and the rest is inferred from what was seen in the repository: each
// signal has a weight in one table, and a field counts as known from Enough on.
//
// Everything here is a pure function of its arguments: nothing is fetched,
// cloned or read, and the same arguments give the same result. An address is
// repeated in no error, since it may hold a token.
package quickstart

// RunConfig is the part of a run_config that an address gives. Encoded as JSON
// it is a valid run_config; what it leaves out has a default.
type RunConfig struct {
	ProductSlug    string `json:"product_slug"`
	ProductName    string `json:"product_name,omitempty"` // empty: as the project writes it
	Family         string `json:"family"`
	TargetPlatform string `json:"target_platform"`
	GithubRepoURL  string `json:"github_repo_url"`
	GithubRef      string `json:"github_ref,omitempty"`
	Locale         string `json:"locale"`
}

// DefaultLocale is the language to write when the address names none.
const DefaultLocale = "en"
