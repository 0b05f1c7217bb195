// Package fixes repairs what gates found, one issue at a time.
//
// A fix belongs to one code. It looks at the page again, finds what the issue
// names by the issue's id, and returns patches; it writes nothing. The caller
// applies them through package patch, which enforces the allowed paths, and runs
// the gates again: only that says whether the issue is gone. Patches expect
// exactly the page that the fix saw.
//
// A fix prefers what loses least: a value that the launch knows, then the
// nearest page, then removing what is wrong. It never invents a fact. Three
// answers are errors: FIXER_NO_DIFF when the issue is no longer there or nothing
// would change, FIXER_UNFIXABLE when a person must act, with a hint that says
// what to do, and INTERNAL.
//
// To add a fix, write one file named after its code and a line in [All].
package fixes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
	"github.com/gantry-run/gantry/launch/patch"
)

// Fix repairs the issues of one code.
type Fix struct {
	Code  string
	Title string // what it does, in a few words
	// Plan returns the patches that repair the issue, at least one.
	Plan func(ctx context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error)
}

// All returns every fix, by code.
func All() []Fix {
	return []Fix{
		{gates.FrontmatterMissing, "give the page the front matter of its section", onPage(addFrontmatter)},
		{gates.FrontmatterFieldMissing, "set the key from the plan or the page", onPage(addField)},
		{gates.FrontmatterTypeMismatch, "write the value in the type of its section", onPage(retype)},
		{gates.MarkdownAltMissing, "describe the image by its file's name", onPage(tidy)},
		{gates.MarkdownHeadingOrder, "make it a heading of the next level", onPage(tidy)},
		{gates.MarkdownLintError, "do as the rule says", onPage(tidy)},
		{gates.HugoBuildError, "repair the page's references, show shortcodes that the site does not have as text", fixBuild},
		{gates.LinkBrokenAnchor, "link to the nearest heading, or to the page", fixAnchor},
		{gates.LinkBrokenInternal, "link to the nearest page, or keep only the text", fixLink},
		{gates.LinkBrokenRelative, "link to the nearest page, or keep only the text", fixLink},
		{gates.SnippetLanguageMismatch, "mark the code block as the repository has it", onPage(relabel)},
		{gates.SnippetNotInCatalog, "show the snippet that it names, or remove the code block", onPage(showOrRemove)},
		{gates.ProductNameMismatch, "write the product's name", onPage(correct)},
		{gates.RepoURLMismatch, "use the repository's address", onPage(correct)},
		{gates.CanonicalURLMismatch, "use the configured address", onPage(correct)},
		{gates.RequiredHeadingMissing, "rename the heading that was meant", onPage(correct)},
		{gates.DistributionMismatch, "show the command of the facts", onPage(showCommand)},
		{gates.HiddenInference, "remove the line", onPage(removeCiting)},
		{gates.TOCHasSnippets, "remove the code block", onPage(removeCode)},
		{gates.TOCMissingChildren, "list the page", onPage(listChild)},
		{gates.TemplateTokenUnresolved, "fill the token in from the configuration, or remove it", onPage(fillToken)},
		{gates.EvidenceMissing, "remove the line", onPage(removeCiting)},
		{gates.InvalidClaimID, "remove the claim marker", onPage(removeMarker)},
		{gates.UncitedFact, "cite the claim that says the same, or remove the line", onPage(citeOrRemove)},
		{gates.UnresolvedContradiction, "remove the line", onPage(removeCiting)},
	}
}

// Next returns the issue to fix first: the first open one, in the order of
// dossier.SortIssues, that keeps the report from being ok.
func Next(report dossier.ValidationReport) (dossier.Issue, bool) {
	issues := slices.Clone(report.Issues)
	dossier.SortIssues(issues)
	for _, i := range issues {
		if i.Status == "OPEN" && dossier.Fails(i.Severity, report.Strict) {
			return i, true
		}
	}
	return dossier.Issue{}, false
}

// Plan returns the patches that repair the issue, by the fix of its code. It
// fails with FIXER_UNFIXABLE if there is none.
func Plan(ctx context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error) {
	for _, fix := range All() {
		if fix.Code == issue.Code {
			return fix.Plan(ctx, in, issue)
		}
	}
	return nil, unfixable(issue, "no fix is known for %s", issue.Code)
}

func unfixable(issue dossier.Issue, format string, args ...any) error {
	hint := issue.SuggestedFix
	if hint == "" {
		hint = "Correct it in the site's worktree"
	}
	return fault.New(fault.FixerUnfixable, format, args...).WithHint("%s Then call launch_validate.", sentence(hint))
}

func sentence(s string) string {
	if last := s[len(s)-1]; last != '.' {
		s += "."
	}
	return s
}

func noOp(issue dossier.Issue) error {
	return fault.New(fault.FixNoOp, "the page no longer has issue %s", issue.ID).
		WithHint("Call launch_validate for a fresh report.")
}

// onPage makes a plan of a function that rewrites the page which the issue is about.
func onPage(rewrite func(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error)) func(context.Context, *gates.Input, dossier.Issue) ([]dossier.Patch, error) {
	return func(_ context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error) {
		p, err := pageOf(in, issue)
		if err != nil {
			return nil, err
		}
		after, err := rewrite(in, p, issue)
		if err != nil {
			return nil, err
		}
		return patches(in, p, after, issue)
	}
}

func pageOf(in *gates.Input, issue dossier.Issue) (*page.Page, error) {
	name, _ := issue.At()
	p, err := in.Page(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noOp(issue)
	case err != nil:
		return nil, unfixable(issue, "the page cannot be read: %s", err)
	}
	return p, nil
}

// patches returns what turns the page into the text.
func patches(in *gates.Input, p *page.Page, after []byte, issue dossier.Issue) ([]dossier.Patch, error) {
	if bytes.Equal(p.Source, after) {
		return nil, noOp(issue)
	}
	after = tidied(p, withoutBlankEnd(p.Source, after))
	if p.Front.Err == nil && page.ReadFront(after).Err != nil {
		return nil, unfixable(issue, "the front matter would no longer be valid")
	}
	bundle, err := patch.Bundle(patch.BundleInput{Root: in.Site, Files: []patch.File{{Path: p.Path, Content: after}}})
	return bundle.Patches, err
}
