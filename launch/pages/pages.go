// Package pages decides which pages a launch writes and writes them, without a
// model: the same evidence gives the same bytes.
//
// [Plan] applies a [Ruleset], which is data, to the evidence. A rule wants a page
// in a section; its blocks say what the page is made of (its features, how to
// install it, one workflow, one API module …) and so which claims and snippets it
// needs. A page that the evidence does not carry is left out, with the reason; one
// that it carries gets its file, its URL, its claims and its links.
//
// [Draft] writes the planned pages of one section through templates. A page tells
// only what claims say, in their words, and each sentence stands on a line
// of its own that ends with the markers of its claims:
//
//	Widget reads CSV files. <!-- claim_id: c0123456789abcdef -->
//
// Code is shown only from the catalogue, verbatim, in a fence that follows its marker:
//
//	<!-- snippet_id: s0123456789abcdef -->
//
// after the sentence that introduces it in its document, which ends with a colon,
// except that Hugo shortcodes in it are escaped; [page.UnescapeHugo] undoes that exactly.
// Lines that hold nothing but links are navigation and need no marker. The page's
// title is its front matter's, so the body begins with headings of level two.
//
// Links between pages are URL paths with the path of the site's base URL in front.
package pages

import (
	"io/fs"

	"github.com/gantry-run/gantry/launch/dossier"
)

// PlanInput is what a plan is made from.
type PlanInput struct {
	Config     dossier.Config
	Facts      dossier.ProductFacts
	Evidence   dossier.EvidenceMap
	Snippets   dossier.SnippetCatalog
	Contract   dossier.FrontmatterContract
	Site       dossier.SiteContext
	Ruleset    Ruleset
	CommitDate string // of the product's commit: YYYY-MM-DD or RFC 3339; a page has no other date
}

// DraftInput is what drafts are made from: the plan, what it was made from, and
// the folder "templates" of Templates.
type DraftInput struct {
	PlanInput
	Plan      dossier.PagePlan
	Templates fs.FS
}

// Page is one page as written.
type Page struct {
	OutputPath string   // relative to the site's root
	Content    []byte   // UTF-8, LF line ends, one final newline
	ClaimIDs   []string // the claims that it states, sorted
	SnippetIDs []string // the snippets that it shows, in the order of the page
	Defaulted  []string // front matter keys that the contract requires and nothing is known for, sorted: they are empty
}
