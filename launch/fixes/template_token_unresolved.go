package fixes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// fillToken puts the configuration's value in the token's place, or removes it,
// wherever the line has it. A value that front matter cannot take as it stands
// is quoted.
func fillToken(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	now := *p
	var text, value string
	for _, t := range slices.Backward(gates.OpenTokens(p)) {
		if t.Issue.ID == issue.ID {
			text, value = string(p.Source[t.Start:t.End]), tokenValue(in.Config, t.Name)
			now.Source = now.ReplaceRange(t.Start, t.End, value)
		}
	}
	if p.Front.Err == nil && page.ReadFront(now.Source).Err != nil {
		_, line := issue.At()
		for _, f := range p.Front.Fields {
			if f.Line == line && strings.Contains(f.Text, text) {
				return page.SetFrontmatter(p.Source, f.Key, strconv.Quote(strings.ReplaceAll(f.Text, text, value)))
			}
		}
	}
	return now.Source, nil
}

// tokenValue returns what the configuration says for a token; "" if nothing. A
// value with the marks of a token in it would only make the next one.
func tokenValue(c dossier.Config, name string) string {
	urls := c.CanonicalURLs
	if urls == nil {
		urls = &dossier.CanonicalURLs{}
	}
	value := map[string]string{
		"PRODUCT_NAME": c.ProductName, "PRODUCT": c.ProductName, "PRODUCT_SLUG": c.ProductSlug, "SLUG": c.ProductSlug,
		"FAMILY": c.Family, "PLATFORM": c.TargetPlatform, "TARGET_PLATFORM": c.TargetPlatform,
		"REPO_URL": c.GithubRepoURL, "GITHUB_REPO_URL": c.GithubRepoURL, "LOCALE": c.Locale,
		"PRODUCT_URL": urls.Product, "DOCS_URL": urls.Docs, "REFERENCE_URL": urls.Reference,
	}[strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(name, "."), "-", "_"))]
	if strings.Contains(value, "__") || strings.ContainsAny(value, "{}\r\n") {
		return ""
	}
	return value
}
