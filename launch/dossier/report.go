package dossier

import (
	"cmp"
	"slices"
)

// ValidationReport is the outcome of all gates: validation_report.json.
type ValidationReport struct {
	SchemaVersion string       `json:"schema_version"`
	OK            bool         `json:"ok"`
	Profile       string       `json:"profile"`
	Strict        bool         `json:"strict"` // warnings fail too
	Gates         []GateResult `json:"gates"`  // in the order in which they ran
	Issues        []Issue      `json:"issues"` // in the order of SortIssues
}

// GateResult is the outcome of one gate.
type GateResult struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Skipped string `json:"skipped,omitempty"` // why it did not run; a skipped gate is ok
	Checked int    `json:"checked"`           // how many things it looked at
	Issues  int    `json:"issues"`
	LogPath string `json:"log_path,omitempty"` // relative to the run's folder
}

// The severities of an issue. Blocker and error fail a report in every profile,
// warning in prod (and in ci when strict), info never.
const (
	Blocker = "blocker"
	Error   = "error"
	Warning = "warn"
	Info    = "info"
)

// Issue is one finding of a gate. ID is "i" and 12 hex digits of
// SHA-256(gate, code, path, line, message).
type Issue struct {
	ID           string    `json:"issue_id"`
	Gate         string    `json:"gate"`
	Code         string    `json:"error_code"`
	Severity     string    `json:"severity"`
	Message      string    `json:"message"`
	Status       string    `json:"status"` // OPEN, IN_PROGRESS, RESOLVED
	Files        []string  `json:"files"`
	Location     *Location `json:"location,omitempty"`
	SuggestedFix string    `json:"suggested_fix"`
}

// Location is a line of a file: the path is relative to the site's root, or an
// artifact's name.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// At returns the issue's path and line, or "" and 0.
func (i Issue) At() (path string, line int) {
	if i.Location == nil {
		return "", 0
	}
	return i.Location.Path, i.Location.Line
}

// Fails reports whether an issue of the severity makes a report not ok.
func Fails(severity string, strict bool) bool {
	switch severity {
	case Blocker, Error:
		return true
	case Warning:
		return strict
	}
	return false
}

// Strict reports whether warnings fail under the configuration: always in profile
// prod, in ci unless ci_strictness is relaxed, in local never.
func (c Config) Strict() bool {
	return c.Profile == "prod" || c.Profile == "ci" && c.CIStrictness != "relaxed"
}

// SortIssues puts issues into the order in which they are reported and fixed:
// severity (blocker first), gate, path, line, id.
func SortIssues(issues []Issue) {
	rank := func(severity string) int {
		return slices.Index([]string{Blocker, Error, Warning, Info}, severity)
	}
	slices.SortFunc(issues, func(a, b Issue) int {
		aPath, aLine := a.At()
		bPath, bLine := b.At()
		return cmp.Or(
			cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(a.Gate, b.Gate),
			cmp.Compare(aPath, bPath), cmp.Compare(aLine, bLine), cmp.Compare(a.ID, b.ID))
	})
}

// PR is the pull request that a launch opened: pr.json. It alone may differ
// between two launches of the same inputs, for it names the run.
type PR struct {
	SchemaVersion string            `json:"schema_version"`
	RunID         string            `json:"run_id"`
	Publisher     string            `json:"publisher"`
	Status        string            `json:"status"`                // opened, merged, or deferred: what would be sent is kept
	Draft         bool              `json:"draft"`                 // validation had failed, and the caller insisted
	Repository    string            `json:"repository,omitempty"`  // owner/name at the forge
	BaseBranch    string            `json:"base_branch,omitempty"` // branch to merge into, where it is known
	Labels        []string          `json:"labels,omitempty"`
	BaseRef       string            `json:"base_ref"` // 40 hex digits
	Branch        string            `json:"branch_name"`
	CommitSHAs    []string          `json:"commit_shas"`
	Title         string            `json:"pr_title"`
	Body          string            `json:"pr_body"`
	URL           string            `json:"pr_url"`
	Number        *int              `json:"pr_number"`
	Pushed        bool              `json:"pushed"`              // the branch is on the site's remote
	PushNote      string            `json:"push_note,omitempty"` // why not
	PatchFile     string            `json:"patch_file"`          // artifact that holds the plain git diff
	AffectedPaths []string          `json:"affected_paths"`
	RollbackSteps []string          `json:"rollback_steps"`
	Validation    ValidationSummary `json:"validation_summary"`
}

// What became of a pull request.
const (
	PROpened   = "opened"
	PRMerged   = "merged"
	PRDeferred = "deferred"
)

// ValidationSummary is a report in four numbers.
type ValidationSummary struct {
	OK          bool   `json:"ok"`
	Profile     string `json:"profile"`
	GatesPassed int    `json:"gates_passed"`
	GatesFailed int    `json:"gates_failed"`
}
