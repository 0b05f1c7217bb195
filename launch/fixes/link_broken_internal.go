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
		return p.Unlink(b.Link)
	})
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
