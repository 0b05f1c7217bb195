package gates

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// templateTokensGate finds what a template left open: __UPPER_SNAKE__ and {{…}}
// outside code. Hugo's shortcodes are not tokens.
func templateTokensGate() Gate {
	return Gate{
		Name: "template_tokens", Title: "no template token is left on a page",
		Codes: []string{TemplateTokenUnresolved}, Timeout: within(30*time.Second, 60*time.Second),
		Run: func(ctx context.Context, in *Input) (Outcome, error) {
			var out Outcome
			var err error
			out.Checked, err = in.changedPages(ctx, func(p *page.Page) {
				for _, t := range fresh(in, p, OpenTokens, func(t OpenToken) dossier.Issue { return t.Issue }) {
					out.Issues = append(out.Issues, t.Issue)
				}
			}, nil)
			return out, err
		},
	}
}

// OpenToken is one template token on a page.
type OpenToken struct {
	Issue dossier.Issue
	Name  string // what is between the marks, without space
	Start int    // offset in the page
	End   int
}

var token = lazyregexp.New(`__([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)__|\{\{([^{}\n]*)\}\}`)

// OpenTokens returns the template tokens of the page, by place.
func OpenTokens(p *page.Page) []OpenToken {
	var found []OpenToken
	for _, m := range token.FindAllSubmatchIndex(p.Source, -1) {
		if p.InCode(m[0]) || inShortcode(p, m[0]) {
			continue
		}
		text := string(p.Source[m[0]:m[1]])
		name := strings.TrimSpace(strings.Trim(text, "_{}"))
		found = append(found, OpenToken{
			Issue: issue("template_tokens", TemplateTokenUnresolved, dossier.Error, p.Path, p.Line(m[0]),
				"Put the value in its place, or remove it.", "the template token %s was not filled in", quote(text)),
			Name: name, Start: m[0], End: m[1],
		})
	}
	return found
}

func inShortcode(p *page.Page, offset int) bool {
	return slices.ContainsFunc(p.Shortcodes, func(s page.Shortcode) bool { return s.Start <= offset && offset < s.End })
}
