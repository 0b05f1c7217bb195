package launch

import (
	"context"
	"path"
	"strings"

	"github.com/gantry-run/gantry/launch/pages"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// draftSection writes the planned pages of one section to drafts/<section>/: by templates,
// and in the words of a model where the run has one.
func (w *workers) draftSection(ctx context.Context, j *job) (runs.Result, error) {
	in, err := j.draftInput(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	section := j.work.Item
	drafts, err := pages.Draft(ctx, in, section)
	if err != nil {
		return runs.Result{}, err
	}
	if j.cfg.LLM != nil {
		if err := j.reword(ctx, in, section, drafts); err != nil {
			return runs.Result{}, err
		}
	}
	for _, d := range drafts {
		if err := j.file(draftName(d.OutputPath), draftPath(section, d.OutputPath), "", d.Content); err != nil {
			return runs.Result{}, err
		}
	}
	return runs.Result{Sections: map[string]string{section: sectionDrafted}}, nil
}

func draftPath(section, output string) string { return path.Join("drafts", section, output) }

// draftName is the artifact name of a draft: its path with "--" for each slash. A path
// that makes no name of an artifact, or could be mistaken for another one's, is called
// by its hash.
func draftName(output string) string {
	name := strings.ReplaceAll(output, "/", "--")
	if strings.Contains(output, "--") || validate.ArtifactName(name) != nil {
		return "draft-" + hash([]byte(output))[:16] + ".md"
	}
	return name
}
