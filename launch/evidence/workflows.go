package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

const maxWorkflows = 150

// workflows lists the sections of the documents that show how something is done:
// those with code, and those whose heading says so and that make two claims. The
// tag of a section has the slugs of the headings above it in front, so that
// "usage/errors" is a part of "usage"; that of a document which is not the README
// begins with the document's title. The code that the README opens with is the
// section "introduction".
func (g *gatherer) workflows() {
	stated := map[string][]string{} // document → the claims that cite it, in order
	for _, claim := range g.claims.order {
		for _, at := range claim.Citations {
			if claim.Kind != kindMetadata && !slices.Contains(stated[at.Path], claim.ID) {
				stated[at.Path] = append(stated[at.Path], claim.ID)
			}
		}
	}
	for _, doc := range g.docs {
		if !doc.entry || processDoc.MatchString(path.Base(doc.path)) {
			continue
		}
		for _, s := range sectionsOf(doc) {
			g.workflow(doc, s, stated[doc.path])
		}
	}
}

// docSection is the lines under one heading, up to the next.
type docSection struct {
	headings   []heading // the section's own is the last
	intro      bool      // before the second heading
	start, end int
	code       bool
}

func (s docSection) title() string {
	if len(s.headings) == 0 {
		return ""
	}
	return s.headings[len(s.headings)-1].title
}

// workflowTitle is the title, with the heading above in front where it says nothing by itself:
// of a section that is no part of another one, which would say it.
func (g *gatherer) workflowTitle(doc document, s docSection, tag string) string {
	n := len(s.headings)
	if n < 2 || !nameless.MatchString(s.title()) || doc.readme && s.headings[n-2].level == 1 {
		return s.title()
	}
	part := slices.ContainsFunc(g.facts.Workflows, func(w dossier.Workflow) bool { return strings.HasPrefix(tag, w.Tag+"/") })
	if part {
		return s.title()
	}
	return s.headings[n-2].title + ": " + lowerFirst(s.title())
}

var nameless = lazyregexp.New(`(?i)^\s*(examples?|notes?|details|usage|syntax|summary|overview|introduction|description|parameters|options|remarks|basics)[\s.:]*$`)

func sectionsOf(doc document) []docSection {
	var sections []docSection
	line := -1
	for _, b := range doc.blocks {
		if skipped(b.headings) {
			continue
		}
		if last := len(sections) - 1; last < 0 || line != b.section().line {
			line = b.section().line
			intro := len(b.headings) == 0 || len(b.headings) == 1 && b.headings[0].level == 1 && b.headings[0].line == doc.firstHeading()
			sections = append(sections, docSection{headings: b.headings, intro: intro, start: max(line, 1)})
		}
		last := &sections[len(sections)-1]
		last.end = b.end
		last.code = last.code || b.kind == code && !installOnly(b.content)
	}
	return sections
}

var installLine = lazyregexp.New(`^(\$ |> )?(sudo )?(go (get|install)|npm (i|install|add)|(yarn|pnpm|bun)( global)? add|pnpm (i|install)|pipx? install|pip3 install|python3? -m pip install|uv (pip install|add|tool install)|poetry add|conda install|brew install|apt(-get)? install|cargo (add|install)|gem install|composer require|dotnet (add|tool install)|docker pull) `)

// installOnly reports whether code does no more than install something.
func installOnly(content string) bool {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !installLine.MatchString(line) {
			return false
		}
	}
	return true
}

func (g *gatherer) workflow(doc document, s docSection, candidates []string) {
	tag := workflowTag(doc, s)
	if tag == "" || len(g.facts.Workflows) >= maxWorkflows || slices.ContainsFunc(g.facts.Workflows, func(w dossier.Workflow) bool { return w.Tag == tag }) {
		return
	}
	if s.intro && !s.code || !s.intro && (installHeading.MatchString(s.title()) || compatibilityHeading.MatchString(s.title())) {
		return
	}
	w := dossier.Workflow{Tag: tag, Title: g.workflowTitle(doc, s, tag), ClaimIDs: []string{}, SnippetTags: []string{}}
	for _, id := range candidates {
		for _, at := range g.claims.get(id).Citations {
			if !s.intro && at.Path == doc.path && at.StartLine >= s.start && at.EndLine <= s.end && !slices.Contains(w.ClaimIDs, id) {
				w.ClaimIDs = append(w.ClaimIDs, id)
			}
		}
	}
	if s.code {
		w.SnippetTags = append(w.SnippetTags, sectionTag(doc, s.headings))
	}
	if s.code || len(w.ClaimIDs) > 1 && slices.ContainsFunc(s.headings, func(h heading) bool {
		return workflowHeading.MatchString(h.title) || quickstartHeading.MatchString(h.title)
	}) {
		g.facts.Workflows = append(g.facts.Workflows, w)
	}
}

const maxTag = 200 // bytes

// workflowTag is "" for a section that has no name.
func workflowTag(doc document, s docSection) string {
	if doc.readme && s.intro {
		return "introduction"
	}
	var slugs []string
	headings := s.headings
	if len(headings) > 0 && headings[0].level == 1 && headings[0].line == doc.firstHeading() {
		if !doc.readme {
			slugs = append(slugs, headings[0].slug)
		}
		headings = headings[1:]
	} else if !doc.readme {
		slugs = append(slugs, slugOf(strings.TrimSuffix(path.Base(doc.path), path.Ext(doc.path))))
	}
	for _, h := range headings {
		if h.slug == "" {
			return ""
		}
		slugs = append(slugs, h.slug)
	}
	return atMost(strings.Join(slugs, "/"), maxTag)
}

// sectionTag is a tag that the snippets of one section alone have.
func sectionTag(doc document, headings []heading) string {
	slug := ""
	if len(headings) > 0 {
		slug = headings[len(headings)-1].slug
	}
	return doc.path[max(0, len(doc.path)+len(slug)+1-maxTag):] + "#" + slug
}
