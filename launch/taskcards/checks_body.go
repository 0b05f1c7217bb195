package taskcards

import (
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// mandatory are the sections that every card has.
var mandatory = []string{
	"Objective", "Required spec references", "Scope", "Inputs", "Outputs", "Allowed paths", "Implementation steps",
	"Failure modes", sectionReview, "Deliverables", "Acceptance checks", "Self-review", sectionE2E, sectionIntegration,
}

const (
	sectionReview      = "Task-specific review checklist"
	sectionE2E         = "E2E verification"
	sectionIntegration = "Integration boundary proven"
)

var (
	subheading = lazyregexp.New(`^### \S`)
	listItem   = lazyregexp.New(`^\s*(?:[-*+]|\d+[.)])\s+\S`)
	artifact   = lazyregexp.New(`(?i)\bartifacts?\b`)
	upstream   = lazyregexp.New(`(?i)\bupstream\b`)
	downstream = lazyregexp.New(`(?i)\bdownstream\b`)
	vague      = lazyregexp.New(`(?i)\b(?:run e2e|verify (?:it )?works|manual testing|run tests|TBD|TODO)\b`)
	quoted     = lazyregexp.New("\"[^\"]*\"|“[^”]*”|`[^`]*`")
	single     = lazyregexp.New(`(^|[^\w'])'[^']*'($|[^\w'])`)
)

func (c *card) checkSections() {
	for _, name := range mandatory {
		if _, ok := c.sections[name]; !ok {
			c.fail(checkSection, 0, "the section %q is missing", "## "+name)
		}
	}
}

func (c *card) checkScope() {
	s, ok := c.sections["Scope"]
	for _, part := range []string{"### In scope", "### Out of scope"} {
		if exact := lazyregexp.New("^" + part + "$"); ok && s.count(exact) == 0 {
			c.fail(checkScope, s.line, "the section Scope lacks %q", part)
		}
	}
}

// checkCounts checks the sections that need a number of parts.
func (c *card) checkCounts() {
	if s, ok := c.sections["Failure modes"]; ok && s.count(subheading) < minFailureModes {
		c.fail(checkFailures, s.line, "the section %s has %d headings \"### …\", and needs %d", s.name, s.count(subheading), minFailureModes)
	}
	if s, ok := c.sections[sectionReview]; ok && s.count(listItem) < minReviewItems {
		c.fail(checkReview, s.line, "the section %s has %d items, and needs %d", s.name, s.count(listItem), minReviewItems)
	}
}

func (c *card) checkE2E() {
	s, ok := c.sections[sectionE2E]
	if !ok {
		return
	}
	if !s.hasCode() {
		c.fail(checkE2ECommand, s.line, "the section %s has no code block with the commands to run", s.name)
	}
	if !s.says(artifact) {
		c.fail(checkE2EArtifact, s.line, "the section %s names no artifact that the commands leave", s.name)
	}
	for _, line := range s.lines {
		if line.fence {
			continue
		}
		if phrase := vague.FindString(unquoted(line.text)); phrase != "" {
			c.fail(checkE2EVague, line.number, "%q does not say what to run and what to see", strings.ToLower(phrase))
		}
	}
}

// unquoted takes what stands in quotes off a line: a phrase that is only quoted is
// not meant.
func unquoted(line string) string {
	return single.ReplaceAllString(quoted.ReplaceAllString(line, " "), "$1 $2")
}

func (c *card) checkIntegration() {
	s, ok := c.sections[sectionIntegration]
	if !ok {
		return
	}
	if !s.says(upstream) {
		c.fail(checkIntegration, s.line, "the section %s does not mention what is upstream", s.name)
	}
	if !s.says(downstream) {
		c.fail(checkIntegration, s.line, "the section %s does not mention what is downstream", s.name)
	}
}
