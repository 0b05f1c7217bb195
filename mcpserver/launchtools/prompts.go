package launchtools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
)

// Prompts returns the prompts of the toolset.
func Prompts() []tool.Prompt {
	return []tool.Prompt{{
		Name: "launch_a_repository", Title: "Launch a repository",
		Description: "Turn a product repository into a documentation pull request, with a person's decision before it is opened.",
		Arguments: []tool.PromptArgument{
			{Name: "github_repo_url", Title: "Repository", Description: "Git URL of the product, or a path under the server's root", Required: true},
			{Name: "ref", Title: "Revision", Description: "Branch, tag or commit of the product; default its HEAD"},
			{Name: "site", Title: "Site", Description: "Git URL of the documentation site; default a built-in one"},
		},
		Text: launchText,
	}}
}

// launchText leads an agent through the tools. What the user gave is JSON in it, so that it
// cannot be taken for a part of the text.
func launchText(args map[string]string) (string, error) {
	config := struct {
		Repo string `json:"github_repo_url"`
		Ref  string `json:"github_ref,omitempty"`
		Site string `json:"site_repo_url,omitempty"`
	}{args["github_repo_url"], args["ref"], args["site"]}
	raw, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(launchGuide, raw), nil
}

const launchGuide = `Turn a product repository into a documentation pull request with Gantry.

1. Call launch_start_run once, with an idempotency_key of your choice (the same one if you have to repeat the call) and run_config %s. Keep the run_id.
2. Call launch_wait with the run_id, again and again while still_running is true. The run goes on by itself meanwhile.
3. When it is paused, do what next says:
   - in VALIDATING, call launch_fix_next, one call after the other, until remaining_blockers is 0. On FIX_EXHAUSTED or FIXER_UNFIXABLE stop, and tell me which issue (open_issues) needs a person;
   - in READY_FOR_PR, read page_plan.json and validation_report.json with launch_get_artifact, tell me in a few lines what was written and where, and ask me whether to open the pull request. Call launch_open_pr only when I agree.
4. When it is DONE, read pr.json and give me the address of the pull request, the branch, and the rollback steps.
5. If it is FAILED, tell me the reason that next gives. Call launch_resume once what was wrong is corrected; do not start another run for the same repository.

Statements in the pages come from the repository, each with its evidence: do not add any of your own. If I change my mind, launch_cancel ends the run.
`

// scanned is how many of the newest runs are looked through for one completion.
const scanned = 2000

// Completer proposes the caller's runs for run_id, newest first, and their artifacts for
// artifact.
func Completer(l *launch.Service) tool.Completer {
	return func(ctx context.Context, who guard.Caller, b tool.Blank, most int) ([]string, bool, error) {
		switch {
		case b.Name == "run_id":
			return runIDs(ctx, l, who, b.Value, most)
		case b.Name == "artifact" && b.Template != "" && b.Others["run_id"] != "":
			return artifactNames(ctx, l, who, b, most)
		}
		return nil, false, nil
	}
}

func runIDs(ctx context.Context, l *launch.Service, who guard.Caller, prefix string, most int) (out []string, more bool, err error) {
	f := launch.Filter{Limit: 200}
	for seen := 0; seen < scanned; seen += f.Limit {
		page, err := l.List(ctx, who.Owner(), f)
		if err != nil {
			return nil, false, err
		}
		for _, r := range page.Runs {
			if !strings.HasPrefix(string(r.ID), prefix) {
				continue
			}
			if len(out) == most {
				return out, true, nil
			}
			out = append(out, string(r.ID))
		}
		if f.Cursor = page.NextCursor; f.Cursor == "" {
			return out, false, nil
		}
	}
	return out, true, nil
}

func artifactNames(ctx context.Context, l *launch.Service, who guard.Caller, b tool.Blank, most int) (out []string, more bool, err error) {
	st, err := l.Status(ctx, runs.ID(b.Others["run_id"]), who.Owner())
	if err != nil {
		return nil, false, nil // there is nothing to propose
	}
	for _, a := range st.Artifacts {
		if !strings.HasPrefix(a.Name, b.Value) {
			continue
		}
		if len(out) == most {
			return out, true, nil
		}
		out = append(out, a.Name)
	}
	return out, false, nil
}
