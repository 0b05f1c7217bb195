package fixes

import (
	"context"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

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
		return withoutLink(p, b.Link)
	})
}
