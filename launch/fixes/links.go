package fixes

import (
	"context"
	"strings"

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

// fixAnchor leads a link to the nearest heading of its page, or to the page; a
// link within the page that has no such heading keeps only its text.
func fixAnchor(ctx context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error) {
	return onBrokenLink(ctx, in, issue, func(p *page.Page, b gates.BrokenLink) ([]byte, bool) {
		if b.Nearest != "" {
			return p.Relink(b.Link, b.Nearest), true
		}
		if dest, _, _ := strings.Cut(b.Link.Dest, "#"); dest != "" {
			return p.Relink(b.Link, dest), true
		}
		return p.Unlink(b.Link)
	})
}

func onBrokenLink(ctx context.Context, in *gates.Input, issue dossier.Issue, rewrite func(*page.Page, gates.BrokenLink) ([]byte, bool)) ([]dossier.Patch, error) {
	p, err := pageOf(in, issue)
	if err != nil {
		return nil, err
	}
	broken, _, err := gates.BrokenLinks(ctx, in, []string{p.Path})
	if err != nil {
		return nil, err
	}
	for _, b := range broken {
		if b.Issue.ID != issue.ID {
			continue
		}
		after, ok := rewrite(p, b)
		if !ok {
			return nil, unfixable(issue, "the link has no text that could stay")
		}
		return patches(in, p, after, issue)
	}
	return nil, noOp(issue)
}
