package quickstart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Seen is what was seen of a repository.
type Seen struct {
	URL          string                  // as ParseGitHubURL normalises it
	SHA          string                  // 40 hex digits, what HEAD resolved to
	Manifests    []dossier.Manifest      // package manifests
	BuildSystems []string                // as an inventory names them
	Languages    []dossier.LanguageShare // of the code
	README       string                  // its text; empty if there is none
}

// SeenIn takes from an inventory what an inference needs. The inventory does not
// hold the text of the README, which is the first of its DocEntrypoints.
func SeenIn(url string, inv dossier.RepoInventory, readme string) Seen {
	return Seen{
		URL: url, SHA: inv.RepoSHA, Manifests: inv.Profile.Manifests, BuildSystems: inv.Profile.BuildSystems,
		Languages: inv.Profile.PrimaryLanguages, README: readme,
	}
}

// Inference is what a repository's URL and what was seen there give.
type Inference struct {
	Family         Field
	TargetPlatform Field

	url, sha, slug, name string
}

// Field is an inferred field.
type Field struct {
	Value      string      // of the best candidate; empty if nothing speaks for any
	Confidence float64     // 0 to 1
	Candidates []Candidate // by score, then by value
}

// Candidate is a value and what speaks for it.
type Candidate struct {
	Value   string
	Score   float64  // 0 to 1
	Signals []string // as docs/inference.md names them, sorted
}

// Infer weighs what was seen. It is a pure function; the profiles must have passed
// CheckProfiles.
func Infer(seen Seen, profiles []Profile) Inference {
	repo := NameFromURL(seen.URL)
	readme := readReadme(seen.README)
	form := formOf(repo, profiles)
	inf := Inference{
		Family:         familyOf(repo, form, seen, readme).count(),
		TargetPlatform: platformOf(repo, form, seen, readme).count(),
		url:            seen.URL, sha: seen.SHA, slug: Slug(repo), name: repo,
	}
	if form != nil {
		inf.slug = Slug(form.profile.fill(form.profile.ProductSlug, form.family, form.platform))
		inf.name = clip(printable(form.profile.fill(form.profile.ProductName, form.family, form.platform)), maxName)
	}
	inf.slug = cmp.Or(inf.slug, "product")
	return inf
}

// RunConfig returns what a launch gets. It is of use if Fault returns nil.
func (i Inference) RunConfig() RunConfig {
	return RunConfig{
		ProductSlug:    i.slug,
		ProductName:    i.name,
		Family:         i.Family.Value,
		TargetPlatform: i.TargetPlatform.Value,
		GithubRepoURL:  i.url,
		GithubRef:      i.sha,
		Locale:         DefaultLocale,
	}
}

// DerivedFromRepository is what a caller is told of a repository's URL.
type DerivedFromRepository struct {
	Family         string     `json:"family"`
	TargetPlatform string     `json:"target_platform"`
	Locales        []string   `json:"locales"`
	LayoutMode     string     `json:"layout_mode"`
	AllowInference bool       `json:"allow_inference"`
	GithubRepoURL  string     `json:"github_repo_url"`
	GithubRef      string     `json:"github_ref"`
	Confidence     Confidence `json:"confidence"`
}

// Confidence is that of each field, 0 to 1.
type Confidence struct {
	Family         float64 `json:"family"`
	TargetPlatform float64 `json:"target_platform"`
}

// Derived returns what to tell the caller. It is of use if Fault returns nil.
func (i Inference) Derived() DerivedFromRepository {
	return DerivedFromRepository{
		Family: i.Family.Value, TargetPlatform: i.TargetPlatform.Value, Locales: []string{DefaultLocale}, LayoutMode: "auto",
		GithubRepoURL: i.url, GithubRef: i.sha, Confidence: Confidence{i.Family.Confidence, i.TargetPlatform.Confidence},
	}
}

// Unsure is the details of the refusal of an inference.
type Unsure struct {
	MissingFields   []string            `json:"missing_fields"`   // run_config fields below Enough
	SuggestedValues map[string][]string `json:"suggested_values"` // for each of them, best first
	Confidence      Confidence          `json:"confidence"`
}

const maxSuggestions = 10

// Fault returns INVALID_INPUT with Unsure as its details if a field has a lower
// confidence than Enough, and nil otherwise. Compare it with nil before it becomes
// an error.
func (i Inference) Fault() *fault.Fault {
	details := Unsure{
		MissingFields: []string{}, SuggestedValues: map[string][]string{},
		Confidence: Confidence{i.Family.Confidence, i.TargetPlatform.Confidence},
	}
	var unsure []string
	for _, f := range []struct {
		name  string
		field Field
	}{{familyField, i.Family}, {platformField, i.TargetPlatform}} {
		if f.field.Confidence >= Enough {
			continue
		}
		values := []string{}
		for _, c := range f.field.Candidates[:min(len(f.field.Candidates), maxSuggestions)] {
			values = append(values, c.Value)
		}
		details.MissingFields = append(details.MissingFields, f.name)
		details.SuggestedValues[f.name] = values
		unsure = append(unsure, fmt.Sprintf("%s (confidence %.2f)", f.name, f.field.Confidence))
	}
	if len(unsure) == 0 {
		return nil
	}
	return fault.New(fault.InvalidInput, "the repository does not show %s clearly enough: %.2f is needed", strings.Join(unsure, " and "), Enough).
		WithHint("call launch_start_run with github_repo_url and %s", strings.Join(details.MissingFields, ", ")).
		WithDetails(details)
}

// ballot collects what speaks for the values of one field.
type ballot struct {
	field  string
	scores map[string]map[signal]int // value → signal → percent
}

func newBallot(field string) *ballot {
	return &ballot{field, map[string]map[signal]int{}}
}

// add counts a signal for a value, once.
func (b *ballot) add(value string, s signal) { b.addShare(value, s, 100) }

// addShare counts a part of a signal's weight, in percent of it.
func (b *ballot) addShare(value string, s signal, share int) {
	points := weightOf(b.field, s) * share / 100
	if value == "" || points == 0 {
		return
	}
	if b.scores[value] == nil {
		b.scores[value] = map[signal]int{}
	}
	b.scores[value][s] = points
}

// count counts the votes: the winner's score less half of the next.
func (b *ballot) count() Field {
	type counted struct {
		Candidate
		percent int
	}
	list := make([]counted, 0, len(b.scores))
	for value, signals := range b.scores {
		c := counted{Candidate: Candidate{Value: value}}
		for s, percent := range signals {
			c.percent += percent
			c.Signals = append(c.Signals, string(s))
		}
		c.percent = min(c.percent, 100)
		c.Score = float64(c.percent) / 100
		slices.Sort(c.Signals)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.percent, a.percent), cmp.Compare(a.Value, b.Value))
	})
	var f Field
	for _, c := range list {
		f.Candidates = append(f.Candidates, c.Candidate)
	}
	if len(list) > 0 {
		f.Value = list[0].Value
		twice := 2 * list[0].percent
		if len(list) > 1 {
			twice -= list[1].percent
		}
		f.Confidence = float64(twice) / 200
	}
	return f
}
