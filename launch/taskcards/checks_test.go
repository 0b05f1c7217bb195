package taskcards

import (
	"slices"
	"strings"
	"testing"
)

// Each change breaks one check of a valid card, and no other.
func TestEachCheckSeesItsOwnFaultAndNoOther(t *testing.T) {
	text := good(t)
	for _, c := range []struct {
		old, new string // what is replaced
		check    string
		at       string // the line, as it stands in the changed card; "" is the whole file
		message  string
	}{
		{"---\nid", "id", checkFront, "id: TC-12", "first line is not ---"},
		{"v1\n---\n", "v1\n", checkFront, "---", "no line --- closes it"},
		{"id: TC-12", "id: [TC-12", checkFront, "*", "YAML is not valid"},
		{"owner: docs", "title: again\nowner: docs", checkFront, "title: again", "already defined"},
		{"owner: docs team", "\towner: x", checkFront, "*", "YAML is not valid"},

		{"title: \"Export to CSV\"\n", "", checkRequired, "---", "lacks title"},
		{"status: In-Progress\n", "", checkRequired, "---", "lacks status"},
		{"owner: docs team\n", "", checkRequired, "---", "lacks owner"},
		{"updated: \"2026-01-31\"\n", "", checkRequired, "---", "lacks updated"},
		{"depends_on:\n  - TC-10\n  - \"TC-11\"\n", "", checkRequired, "---", "lacks depends_on"},
		{"evidence_required:\n  - reports/TC-12/run.txt\n", "", checkRequired, "---", "lacks evidence_required"},
		{"spec_ref: 37114723be16c9c9441c8fb93116b044ad1aa6b5\n", "", checkRequired, "---", "lacks spec_ref"},
		{"ruleset_version: ruleset.v1\n", "", checkRequired, "---", "lacks ruleset_version"},
		{"templates_version: templates.v1\n", "", checkRequired, "---", "lacks templates_version"},
		{"id: TC-12\n", "", checkRequired, "---", "lacks id"},

		{"id: TC-12", "id: tc-12", checkID, "id: tc-12", "not TC-"},
		{"id: TC-12", "id: 12", checkID, "id: 12", "not TC-"},
		{"id: TC-12", "id: TC-1", checkFileName, "id: TC-1", "not TC-1….md"},
		{"title: \"Export to CSV\"", "title: ''", checkTitle, "title: ''", "says something"},
		{"owner: docs team", "owner: 7", checkOwner, "owner: 7", "not a string"},
		{"owner: docs team", "owner:", checkOwner, "owner:", "not a string"},
		{"status: In-Progress", "status: Cancelled", checkStatus, "status: Cancelled", "Draft, Ready"},
		{"\"2026-01-31\"", "2026-01-31", checkUpdated, "updated: 2026-01-31", "put it in quotes"},
		{"\"2026-01-31\"", "\"2026-02-30\"", checkUpdated, "updated: \"2026-02-30\"", "YYYY-MM-DD"},
		{"\"2026-01-31\"", "\"31.01.2026\"", checkUpdated, "updated: \"31.01.2026\"", "YYYY-MM-DD"},
		{"depends_on:\n  - TC-10\n  - \"TC-11\"", "depends_on: TC-10", checkDepends, "depends_on: TC-10", "not a list"},
		{"  - \"TC-11\"", "  - eleven", checkDepends, "  - eleven", "no id"},
		{"evidence_required:\n  - reports/TC-12/run.txt", "evidence_required: []", checkEvidence, "evidence_required: []", "at least one entry"},
		{"  - reports/TC-12/run.txt", "  - 5", checkEvidence, "  - 5", "no string"},
		{"  - src/export/**", "  - src/export/**\n  - {a: b}", checkAllowed, "  - {a: b}", "no string"},
		{"spec_ref: 37114723be16c9c9441c8fb93116b044ad1aa6b5", "spec_ref: 371147", checkSpecRef, "spec_ref: 371147", "7 to 40"},
		{"spec_ref: 37114723be16c9c9441c8fb93116b044ad1aa6b5", "spec_ref: 3711472", checkSpecRef, "spec_ref: 3711472", "7 to 40"}, // a number
		{"spec_ref: 37114723", "spec_ref: main", checkSpecRef, "*", "7 to 40"},
		{"ruleset_version: ruleset.v1", "ruleset_version: 1.0", checkRuleset, "ruleset_version: 1.0", "needs quotes"},
		{"templates_version: templates.v1", "templates_version: \"\"", checkTemplates, "templates_version: \"\"", "says something"},

		{"* tests/export", "- other/**\n* tests/export", checkBodyPaths, "- other/**", "not in the front matter"},
		{"* tests/export/test_csv.py", "", checkBodyPaths, "  - tests/export/test_csv.py", "not a bullet"},

		{"## Objective\nRows", "## Objectives\nRows", checkSection, "", "## Objective"},
		{"## Required spec references", "# Required spec references", checkSection, "", "## Required spec references"},
		{"## Scope\n", "", checkSection, "", "## Scope"},
		{"## Inputs", "## inputs", checkSection, "", "## Inputs"},
		{"## Outputs", "##Outputs", checkSection, "", "## Outputs"},
		{"## Allowed paths", "## Paths", checkSection, "", "## Allowed paths"},
		{"## Implementation steps", "## Steps", checkSection, "", "## Implementation steps"},
		{"## Failure modes", "## Failures", checkSection, "", "## Failure modes"},
		{"## Task-specific review checklist", "## Review", checkSection, "", "## Task-specific review checklist"},
		{"## Deliverables", " ## Deliverables", checkSection, "", "## Deliverables"},
		{"## Acceptance checks", "## Acceptance checks (all)", checkSection, "", "## Acceptance checks"},
		{"## E2E verification", "## E2E", checkSection, "", "## E2E verification"},
		{"## Integration boundary proven", "## Integration", checkSection, "", "## Integration boundary proven"},
		{"## Self-review", "### Self-review", checkSection, "", "## Self-review"},

		{"### In scope", "### In", checkScope, "## Scope", "### In scope"},
		{"### Out of scope", "**Out of scope**", checkScope, "## Scope", "### Out of scope"},
		{"### Bad text", "Bad text", checkFailures, "## Failure modes", "has 2 headings"},
		{"2) six", "six", checkReview, "## Task-specific review checklist", "has 5 items"},
		{"```bash\nexport --to out.csv\n```", "export --to out.csv", checkE2ECommand, "## E2E verification", "no code block"},
		{"export --to out.csv\n", "\n", checkE2ECommand, "## E2E verification", "no code block"},
		{"The artifact is out.csv.", "It leaves out.csv.", checkE2EArtifact, "## E2E verification", "names no artifact"},
		{"The artifact is", "Then Run  E2E.\nTBD: the artifact is", checkE2EVague, "TBD: the artifact is out.csv.", `"tbd"`},
		{"Never just \"run tests\"", "Just run tests", checkE2EVague, "Just run tests or 'TODO'.", `"run tests"`},
		{"'TODO'", "don't TODO, it's", checkE2EVague, "Never just \"run tests\" or don't TODO, it's.", `"todo"`},
		{"export --to out.csv", "export # verify works", checkE2EVague, "export # verify works", `"verify works"`},
		{"Never just", "Manual testing is not", checkE2EVague, "*", `"manual testing"`},
		{"Upstream: the reader.", "", checkIntegration, "## Integration boundary proven", "upstream"},
		{"Downstream: the", "The", checkIntegration, "## Integration boundary proven", "downstream"},
	} {
		if strings.Count(text, c.old) < 1 {
			t.Fatalf("the card has no %q", c.old)
		}
		changed := strings.Replace(text, c.old, c.new, 1)
		dir := project(t, map[string]string{folder + "/TC-12_export.md": changed})
		r, err := Validate(dir, folder, "TC-12")
		if err != nil {
			t.Fatal(err)
		}
		if r.Valid || len(r.Errors) != 1 || r.Errors[0].Check != c.check || !strings.Contains(r.Errors[0].Message, c.message) {
			t.Errorf("%q → %q: %+v, want one %s", c.old, c.new, r.Errors, c.check)
			continue
		}
		want := 0
		if c.at != "" {
			want = 1 + slices.Index(strings.Split(changed, "\n"), c.at)
		}
		if c.at != "*" && r.Errors[0].Line != want || c.at == "*" && r.Errors[0].Line == 0 {
			t.Errorf("%q → %q: line %d, want %d", c.old, c.new, r.Errors[0].Line, want)
		}
	}
}

// Paths stand in the front matter and in the body, so both change.
func TestEachPathRuleSeesItsOwnFault(t *testing.T) {
	for _, c := range []struct{ path, check string }{
		{"src/**", checkBroad}, {"src/launch/**", checkBroad}, {"tests/**", checkBroad}, {"scripts/**", checkBroad}, {".github/**", checkBroad}, {"\"**\"", checkBroad},
		{"src/launch/io/**", checkShared}, {"src/launch/util/x.py", checkShared}, {"src/launch/models/**", checkShared}, {"src/launch/clients/a/**", checkShared},
		{"content/products.example.org/3d/en/**", checkProducts}, {"content/products.example.org/3d/python/**", checkProducts},
		{"content/products/3d/eng/python/**", checkProducts}, {"content/products/3d/en/cobol/**", checkProducts},
		{"../other/**", checkAllowed}, {"/etc/passwd", checkAllowed}, {"src/../../x", checkAllowed},
		{"src/launch/iostream/**", ""}, {"content/products/3d/en/go/**", ""}, {"src/products/**", ""}, {"scripts/run.sh", ""}, {"app/[id]/page.tsx", ""},
	} {
		changed := strings.ReplaceAll(good(t), "- src/export/**", "- "+c.path)
		changed = strings.ReplaceAll(changed, "`src/export/**`", "`"+strings.Trim(c.path, `"`)+"`")
		var got []string
		for _, e := range check("TC-12_x.md", []byte(changed), nil).Errors {
			got = append(got, e.Check)
			if want := 1 + slices.Index(strings.Split(changed, "\n"), "  - "+c.path); e.Line != want {
				t.Errorf("%s: line %d, want %d", c.path, e.Line, want)
			}
		}
		if strings.Join(got, " ") != c.check {
			t.Errorf("%s: %v, want %s", c.path, got, c.check)
		}
	}
	for folder, owner := range map[string]string{"io": "TC-200", "util": "TC-200", "models": "TC-250", "clients": "TC-500"} {
		changed := strings.ReplaceAll(strings.ReplaceAll(good(t), "src/export/", "src/launch/"+folder+"/"), "id: TC-12", "id: "+owner)
		if r := check(owner+".md", []byte(changed), nil); !r.Valid {
			t.Errorf("%s may change %s: %+v", owner, folder, r.Errors)
		}
	}
}

func TestAllowedPathsMustBeThere(t *testing.T) {
	for change, want := range map[string]string{
		"allowed_paths: []\n": checkAllowed, "allowed_paths: src\n": checkAllowed, "": checkRequired,
	} {
		text := good(t)
		from, to := strings.Index(text, "allowed_paths:"), strings.Index(text, "evidence_required:")
		r := check("TC-12.md", []byte(text[:from]+change+text[to:]), nil)
		if !slices.ContainsFunc(r.Errors, func(e Error) bool { return e.Check == want }) {
			t.Errorf("%q: %+v, want %s", change, r.Errors, want)
		}
	}
}

func TestTwoCardsWithOneIDAreSeen(t *testing.T) {
	dir := project(t, map[string]string{folder + "/TC-12_export.md": good(t), folder + "/TC-12_again.md": good(t), folder + "/TC-120.md": ""})
	r, err := Validate(dir, folder, "TC-12")
	if err != nil || len(r.Errors) != 1 || r.Errors[0].Check != checkUnique || !strings.Contains(r.Errors[0].Message, "TC-12_export.md") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWindowsLineEndsAndAByteOrderMarkAreFine(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(good(t), "\n", "\r\n")
	if r := check("TC-12.md", []byte(text), nil); !r.Valid || r.ID != "TC-12" {
		t.Errorf("%+v", r)
	}
}

func TestTaggedDateIsAString(t *testing.T) {
	text := strings.Replace(good(t), `"2026-01-31"`, "!!str 2026-01-31", 1)
	if r := check("TC-12.md", []byte(text), nil); !r.Valid {
		t.Errorf("%+v", r)
	}
}
