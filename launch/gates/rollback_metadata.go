package gates

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// rollbackMetadataGate wants a pull request to say how it is undone: the commit
// that it started from, the steps, and the files that it touches. Before there is
// a pull request, and in profile local, it has nothing to look at.
func rollbackMetadataGate() Gate {
	return Gate{
		Name: "rollback_metadata", Title: "the pull request says how it is undone",
		Codes:   []string{RollbackMissing, RollbackBaseRef, RollbackNoSteps, RollbackNoPaths, RollbackPathNotInDiff},
		Timeout: within(5*time.Second, 10*time.Second), Run: runRollbackMetadata,
	}
}

var fullSHA = lazyregexp.New(`^[0-9a-f]{40}$`)

func runRollbackMetadata(_ context.Context, in *Input) (Outcome, error) {
	if in.Config.Profile == "local" {
		return Outcome{Skipped: "profile local asks for no rollback metadata"}, nil
	}
	raw, err := in.Artifact(dossier.PRName)
	if missing(err) {
		return Outcome{Skipped: "there is no pull request yet"}, nil
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("%s cannot be read", dossier.PRName)
	}
	out := Outcome{Checked: 1}
	add := func(code, fix, format string, args ...any) {
		out.Issues = append(out.Issues, issue("rollback_metadata", code, in.byProfile(dossier.Info, dossier.Warning, dossier.Blocker), dossier.PRName, 0, fix, format, args...))
	}
	var members map[string]json.RawMessage
	var pr dossier.PR
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(raw, &pr) != nil {
		add(RollbackMissing, "Force open_pr with launch_resume.", "%s cannot be read", dossier.PRName)
		return out, nil
	}
	for _, name := range []string{"base_ref", "rollback_steps", "affected_paths"} {
		if _, ok := members[name]; !ok {
			add(RollbackMissing, "Force open_pr with launch_resume.", "%s has no %s", dossier.PRName, name)
		}
	}
	if members["base_ref"] != nil && !fullSHA.MatchString(pr.BaseRef) {
		add(RollbackBaseRef, "Name the commit that the branch started from, with 40 hex digits.", "base_ref is no commit: %s", quote(pr.BaseRef))
	}
	if members["rollback_steps"] != nil && len(pr.RollbackSteps) == 0 {
		add(RollbackNoSteps, "Say which commands undo the change.", "there are no rollback steps")
	}
	if members["affected_paths"] != nil && len(pr.AffectedPaths) == 0 {
		add(RollbackNoPaths, "List the files of the change.", "there are no affected paths")
	}
	for _, name := range pr.AffectedPaths {
		if !slices.Contains(in.Changed, name) {
			add(RollbackPathNotInDiff, "List only files of the change.", "the change does not touch %s", quote(name))
		}
	}
	return out, nil
}
