package fixes

import (
	"context"
	"slices"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// fixLink leads a broken link to the nearest page, or keeps only its text.
func fixLink(ctx context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error) {
	return onBrokenLink(ctx, in, issue, func(p *page.Page, b gates.BrokenLink) ([]byte, bool) {
		if b.Nearest != "" {
			return p.Relink(b.Link, b.Nearest), true
		}
		return withoutLink(p, b.Link)
	})
}

// withoutLink returns the page with the link's text alone. Where that would leave a
// statement without a claim, in a list of links, the text goes too.
func withoutLink(p *page.Page, l page.Link) ([]byte, bool) {
	after, ok := p.Unlink(l)
	if !ok {
		return nil, false
	}
	was, err := page.Parse(p.Path, p.Source)
	if err != nil {
		return after, true
	}
	is, err := page.Parse(p.Path, after)
	if err != nil || uncited(is) <= uncited(was) {
		return after, true
	}
	line := was.Line(l.Start)
	others := slices.ContainsFunc(was.Links, func(o page.Link) bool { return o.Line == line && o.Start != l.Start })
	if others {
		return p.ReplaceRange(spaceBefore(p.Source, l.Start), l.End, ""), true
	}
	return was.RemoveLine(line), true
}

// uncited counts the statements of the page that name no claim.
func uncited(p *page.Page) (n int) {
	for _, s := range p.Statements {
		if len(s.ClaimIDs) == 0 {
			n++
		}
	}
	return n
}

// onBrokenLink rewrites each link that the issue stands for: several, if a line
// has the same one twice. It goes from the last to the first, so that offsets
// hold; a link around an image is widened by what changed inside it.
func onBrokenLink(ctx context.Context, in *gates.Input, issue dossier.Issue, rewrite func(*page.Page, gates.BrokenLink) ([]byte, bool)) ([]dossier.Patch, error) {
	p, err := pageOf(in, issue)
	if err != nil {
		return nil, err
	}
	broken, _, err := gates.BrokenLinks(ctx, in, []string{p.Path})
	if err != nil {
		return nil, err
	}
	now := *p
	grown := map[int]int{} // by the start of the links that were rewritten
	for _, b := range slices.Backward(broken) {
		if b.Issue.ID != issue.ID {
			continue
		}
		for start, by := range grown {
			if start < b.Link.End {
				b.Link = b.Link.Widened(by)
			}
		}
		before := len(now.Source)
		after, ok := rewrite(&now, b)
		if !ok {
			return nil, unfixable(issue, "the link has no text that could stay")
		}
		now.Source, grown[b.Link.Start] = after, len(after)-before
	}
	return patches(in, p, now.Source, issue)
}
