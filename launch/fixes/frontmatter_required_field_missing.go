package fixes

import (
	"path"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// addField sets the required key that the issue is about.
func addField(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	contract, err := gates.Contract(in)
	if err != nil {
		return nil, fault.New(fault.Internal, "the front matter contract cannot be read").Because(err)
	}
	for _, problem := range gates.FrontmatterProblems(in, contract, p) {
		if problem.Issue.ID != issue.ID {
			continue
		}
		value := knownValue(in, p, problem.Key, problem.Want)
		if value == "" {
			return nil, unfixable(issue, "nothing that the launch knows says what %q should be", problem.Key)
		}
		after, err := page.SetFrontmatter(p.Source, problem.Key, value)
		if err != nil {
			return nil, unfixable(issue, "%s", fault.From(err).Message)
		}
		return after, nil
	}
	return nil, noOp(issue)
}

// knownValue returns what the plan, the page or the configuration says of a
// front matter key, as a YAML scalar; "" if nothing does.
func knownValue(in *gates.Input, p *page.Page, key, want string) string {
	planned := plannedPage(in, p.Path)
	text := ""
	switch key {
	case "title", "linkTitle", "linktitle":
		text = firstOf(planned.Title, p.Title(), titleFromPath(p.Path))
	case "description", "summary":
		text = firstOf(planned.Description, planned.Purpose)
	case "slug":
		text = planned.Slug
	case "url", "permalink":
		text = planned.URLPath
	case "weight":
		if planned.OutputPath != "" {
			return strconv.Itoa(planned.Weight)
		}
	case "draft":
		return "false"
	case "family":
		text = in.Config.Family
	case "platform":
		text = in.Config.TargetPlatform
	case "product", "product_name":
		text = in.Config.ProductName
	}
	if text == "" || want != "" && want != page.String {
		return ""
	}
	return strconv.Quote(strings.Join(strings.Fields(text), " "))
}

// plannedPage returns the plan's page of the path, or the zero value.
func plannedPage(in *gates.Input, name string) dossier.PlannedPage {
	plan, err := gates.Plan(in)
	if err != nil {
		return dossier.PlannedPage{}
	}
	for _, planned := range plan.Pages {
		if planned.OutputPath == name {
			return planned
		}
	}
	return dossier.PlannedPage{}
}

// titleFromPath makes a title of a page's file name, or of its folder's.
func titleFromPath(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if base == "index" || base == "_index" {
		base = path.Base(path.Dir(name))
	}
	words := strings.FieldsFunc(base, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	title := strings.Join(words, " ")
	if title == "" {
		return base
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}
