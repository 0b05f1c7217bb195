package quickstart

import (
	"fmt"
	"strings"
)

// Enough is the confidence from which on an inferred field counts as known.
const Enough = 0.80

// signal is one thing that speaks for a value.
type signal string

// The signals. What each means stands in weights.
const (
	familyInName   signal = "profile_name"
	familyOpen     signal = "profile_name_open"
	repositoryName signal = "repository_name"
	packageName    signal = "package_name"
	readmeTitle    signal = "readme_title"
	readmeMention  signal = "readme_mention"
	titleAlone     signal = "readme_title_alone"

	platformInName signal = "profile_name"
	nameAffix      signal = "name_affix"
	manifest       signal = "package_manifest"
	lowerManifest  signal = "lower_manifest"
	toolManifest   signal = "tooling_manifest"
	buildFile      signal = "build_file"
	codeShare      signal = "code_share"
	noManifest     signal = "no_manifest"
	readmePlatform signal = "readme_platform"
)

// The fields that are inferred.
const (
	familyField   = "family"
	platformField = "target_platform"
)

// weight is what a signal counts for a field, in percent.
type weight struct {
	field   string
	signal  signal
	percent int
	means   string
}

// weights is the table of the inference; docs/inference.md shows it.
var weights = []weight{
	{familyField, familyInName, 80, "The repository is called as a site profile says, and the profile lists the family."},
	{familyField, familyOpen, 50, "The repository is called so, with a family that the profile does not list."},
	{familyField, repositoryName, 50, "The repository's own name, where no profile knows its form."},
	{familyField, packageName, 35, "A package manifest names the package so. A manifest at the top that names another package speaks for that, unless one agrees."},
	{familyField, readmeTitle, 35, "The README's title holds the name."},
	{familyField, readmeMention, 15, "The README holds the name as a word."},
	{familyField, titleAlone, 10, "The README's title is another name, of at most three words."},

	{platformField, platformInName, 80, "The repository is called as a site profile says."},
	{platformField, nameAffix, 15, "The repository's name begins or ends with the platform, as in tool-py."},
	{platformField, manifest, 60, "A manifest of the platform is at the top, and the platform has a tenth of the code or more."},
	{platformField, lowerManifest, 40, "Such a manifest is only in a folder below, and no platform has one at the top."},
	{platformField, toolManifest, 15, "Any other manifest of the platform: tooling, or a part of the product."},
	{platformField, buildFile, 50, "Nothing has a manifest at the top, Make, CMake, Meson or Bazel builds it, and half of the code is C or C++: for cpp."},
	{platformField, noManifest, 50, "Nothing has a manifest at the top, and half of the code is in languages that no platform stands for: for other."},
	{platformField, codeShare, 40, "Times the platform's share of the code. JavaScript and TypeScript count together for the larger; other needs half."},
	{platformField, readmePlatform, 15, "The README names the platform in its title or first paragraph, or shows a command that installs for it."},
}

// weightOf returns what a signal counts for a field.
func weightOf(field string, s signal) int {
	for _, w := range weights {
		if w.field == field && w.signal == s {
			return w.percent
		}
	}
	return 0
}

// Markdown returns docs/inference.md: how inference works, with the weights.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# How a repository's URL becomes a launch

Made from the table in ` + "`launch/quickstart/weights.go` by `go test ./launch/quickstart -update`" + `; do not edit.

` + "`launch_start_run_from_github_repo_url`" + ` takes nothing but a URL. The rest is inferred from what a shallow fetch of
the default branch shows: the repository's name, its package manifests, its languages and its README.

Two fields are inferred. Each value that something speaks for is a candidate. Its score is the sum of the weights of
its signals, each counted once, and at most 1. The candidate with the highest score wins; with equal scores, the first
by name. The field's **confidence** is the winner's score less half of the score of the next.

`)
	fmt.Fprintf(&b, "Both fields need a confidence of %.2f. Otherwise the call fails with `INVALID_INPUT` and no run is started:\n", Enough)
	b.WriteString("`details` holds `missing_fields`, `suggested_values` (the candidates by score) and `confidence`. Give the fields to\n`launch_start_run` instead.\n")
	for _, field := range []string{familyField, platformField} {
		fmt.Fprintf(&b, "\n## %s\n\n| signal | weight | what it means |\n|---|---|---|\n", field)
		for _, w := range weights {
			if w.field == field {
				fmt.Fprintf(&b, "| `%s` | %.2f | %s |\n", w.signal, float64(w.percent)/100, w.means)
			}
		}
	}
	b.WriteString(`
Names are compared without case, accents and punctuation, and without a platform in front or behind: ` + "`python-dateutil`,\n`dateutil-py` and `Dateutil`" + ` are one name. Package names are compared without scope, group, host and version.

The repository's languages are wanted as shares of its code: sources, tests and examples, not documents and data.
Everything else has its default: locale en, the layout found by looking, inferred claims not published, and the ref is
the SHA that HEAD resolved to.
`)
	return b.String()
}
