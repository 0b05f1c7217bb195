package fixes

import (
	"context"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// fixBuild repairs what keeps Hugo from building a page: references that lead
// nowhere, as the fix of broken links does, and shortcodes that the site does not
// have, which are shown as they stand.
func fixBuild(ctx context.Context, in *gates.Input, issue dossier.Issue) ([]dossier.Patch, error) {
	p, err := pageOf(in, issue)
	if err != nil {
		return nil, err
	}
	_, line := issue.At()
	if strings.Contains(issue.Message, "REF_NOT_FOUND") {
		broken, _, err := gates.BrokenLinks(ctx, in, []string{p.Path})
		if err != nil {
			return nil, err
		}
		for _, b := range broken {
			if b.Link.Line == line && b.Link.IsRef {
				return fixLink(ctx, in, b.Issue)
			}
		}
		return nil, noOp(issue)
	}
	if name, ok := unknownShortcode(issue.Message); ok {
		now := *p
		for _, s := range slices.Backward(p.Shortcodes) {
			if text, ok := page.EscapeHugo(string(p.Source[s.Start:s.End])); ok && s.Name == name {
				now.Source = now.ReplaceRange(s.Start, s.End, text)
			}
		}
		return patches(in, p, now.Source, issue)
	}
	return nil, unfixable(issue, "what Hugo says is nothing that can be mended by rule")
}

// unknownShortcode returns the name in Hugo's complaint about a shortcode.
func unknownShortcode(message string) (string, bool) {
	_, rest, ok := strings.Cut(message, `template for shortcode \"`)
	name, _, closed := strings.Cut(rest, `\"`)
	return name, ok && closed && name != ""
}
