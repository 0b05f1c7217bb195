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

// universalityGate holds a launch to what is true of every product: it writes no
// more than its tier carries, does not keep the limits of the product from the
// reader, shows the commands that install it exactly, and passes no inference
// off as a fact.
func universalityGate() Gate {
	return Gate{
		Name: "universality", Title: "tiers are kept, limitations are told, commands are exact, inference is not hidden",
		Codes:   []string{TierViolation, LimitationsMissing, DistributionMismatch, HiddenInference},
		Timeout: within(60*time.Second, 120*time.Second), Run: runUniversality,
	}
}

func runUniversality(ctx context.Context, in *Input) (Outcome, error) {
	u, err := newUniversality(in)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	out.Checked, err = in.changedPages(ctx, func(p *page.Page) {
		for _, m := range p.Claims {
			u.cited[m.ID] = true
		}
		out.Issues = append(out.Issues, fresh(in, p, u.inferences, itself)...)
		for _, c := range fresh(in, p, u.commands, func(c WrongCommand) dossier.Issue { return c.Issue }) {
			out.Issues = append(out.Issues, c.Issue)
		}
	}, nil)
	out.Issues = append(out.Issues, u.tiers()...)
	out.Issues = append(out.Issues, u.limitations()...)
	return out, err
}

type universality struct {
	in       *Input
	plan     dossier.PagePlan
	facts    dossier.ProductFacts
	claims   map[string]dossier.Claim
	cited    map[string]bool // by the changed pages
	sources  []string        // texts of the repository that may hold commands
	packages map[string][]string
}

func newUniversality(in *Input) (*universality, error) {
	u := &universality{in: in, claims: map[string]dossier.Claim{}, cited: map[string]bool{}, packages: map[string][]string{}}
	var err error
	if u.plan, err = Plan(in); err != nil {
		return nil, err
	}
	var evidence dossier.EvidenceMap
	var catalog dossier.SnippetCatalog
	for name, doc := range map[string]any{
		dossier.ProductFactsName: &u.facts, dossier.EvidenceMapName: &evidence, dossier.SnippetCatalogName: &catalog,
	} {
		if err := in.document(name, doc); err != nil {
			return nil, err
		}
	}
	for _, c := range evidence.Claims {
		u.claims[c.ID] = c
		u.sources = append(u.sources, c.Text)
	}
	for _, s := range catalog.Snippets {
		u.sources = append(u.sources, s.Content)
	}
	for _, d := range u.facts.Distribution {
		u.sources = append(u.sources, d.InstallCommands...)
		for _, command := range d.InstallCommands {
			if verb := installVerb.FindString(command); verb != "" {
				u.packages[plainVerb(verb)] = append(u.packages[plainVerb(verb)], command)
			}
		}
	}
	return u, nil
}

// tiers wants no section to have more pages than the tier's quota.
func (u *universality) tiers() (found []dossier.Issue) {
	planned := map[string]int{}
	for _, p := range u.plan.Pages {
		planned[p.Section]++
	}
	for _, section := range dossier.Sections() {
		if quota, ok := u.plan.Quotas[section]; ok && planned[section] > quota {
			found = append(found, issue("universality", TierViolation, dossier.Error, dossier.PagePlanName, 0,
				"Force build_plan with launch_resume, or raise launch_tier.",
				"section %s has %d pages planned, and tier %s carries %d", section, planned[section], quote(u.plan.LaunchTier), quota))
		}
	}
	return found
}

// limitations wants those that the plan gave to a page to be told on one. What no
// planned page had room for is only said.
func (u *universality) limitations() []dossier.Issue {
	known := u.facts.ClaimGroups.Limitations
	if len(known) == 0 || len(u.plan.Pages) == 0 || slices.ContainsFunc(known, func(id string) bool { return u.cited[id] }) {
		return nil
	}
	severity := dossier.Info
	for _, p := range u.plan.Pages {
		if slices.ContainsFunc(p.RequiredClaims, func(id string) bool { return slices.Contains(known, id) }) {
			severity = dossier.Error
		}
	}
	return []dossier.Issue{issue("universality", LimitationsMissing, severity, "", 0,
		"Add section kb to required_sections, or put a limitation with its claim on a page.",
		"the repository states limitations, and no page tells one")}
}

// inferences finds lines that rest on what was inferred.
func (u *universality) inferences(p *page.Page) (found []dossier.Issue) {
	if u.in.Config.AllowInference {
		return nil
	}
	for _, m := range p.Claims {
		if u.claims[m.ID].Truth == "inference" {
			found = append(found, issue("universality", HiddenInference, dossier.Error, p.Path, m.Line,
				"Remove the line, or set allow_inference in the run_config.", "claim %s is an inference, and the run allows none", m.ID))
		}
	}
	return found
}

// WrongCommand is a command on a page that installs something else than the facts say.
type WrongCommand struct {
	Issue dossier.Issue
	Start int // offset in the page
	End   int
	Want  string // the command of the facts; "" if there are several, or none
}

var (
	installVerb    = lazyregexp.New(`\b(?:pip3? install|npm (?:install|i)|yarn add|pnpm add|go get|go install|cargo (?:add|install)|dotnet add package|composer require|gem install)(?: (?:-\S+|--\S+))*`)
	installCommand = lazyregexp.New(installVerb.String() + ` [^\s` + "`" + `;|&<>"']+`)
)

// plainVerb is what two ways to write one verb have in common.
func plainVerb(verb string) string {
	words := strings.Fields(strings.Replace(verb, "pip3", "pip", 1))
	if len(words) > 1 && words[1] == "i" {
		words[1] = "install"
	}
	return strings.Join(words[:min(len(words), 2)], " ")
}

// WrongCommands returns the install commands on the page that neither the facts
// nor anything else in the repository has.
func WrongCommands(in *Input, p *page.Page) ([]WrongCommand, error) {
	u, err := newUniversality(in)
	if err != nil {
		return nil, err
	}
	return u.commands(p), nil
}

func (u *universality) commands(p *page.Page) (found []WrongCommand) {
	for _, m := range installCommand.FindAllIndex(p.Source[p.Body:], -1) {
		start, end := m[0]+p.Body, m[1]+p.Body
		if !p.InCode(start) {
			continue // prose about installing is a statement, and the truth lock's
		}
		text := strings.TrimRight(string(p.Source[start:end]), ".,:)")
		right := u.packages[plainVerb(installVerb.FindString(text))]
		if len(right) == 0 || slices.ContainsFunc(u.sources, func(s string) bool { return strings.Contains(s, text) }) {
			continue
		}
		w := WrongCommand{Start: start, End: start + len(text)}
		if len(right) == 1 && !strings.Contains(right[0], "\n") {
			w.Want = right[0]
		}
		w.Issue = issue("universality", DistributionMismatch, dossier.Error, p.Path, p.Line(start),
			"Show the command of the facts: "+quote(right[0])+".", "the command %s is not one of the product's", quote(text))
		found = append(found, w)
	}
	return found
}
