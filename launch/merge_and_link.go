package launch

import (
	"context"
	"os"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/pages"
	"github.com/gantry-run/gantry/launch/patch"
	"github.com/gantry-run/gantry/runs"
)

// diffReportName is the artifact that tells a person what was merged.
const diffReportName = "diff_report.md"

// mergeAndLink brings the drafts into the site's work tree. It begins from the
// pinned commit, so that an earlier attempt leaves no trace in the bundle.
func (w *workers) mergeAndLink(ctx context.Context, j *job) (runs.Result, error) {
	in, err := j.draftInput(ctx)
	if err != nil {
		return runs.Result{}, err
	}
	if err := w.git.Restore(ctx, j.site(), j.view.Pins.SiteSHA); err != nil {
		return runs.Result{}, err
	}
	root, err := j.siteRoot()
	if err != nil {
		return runs.Result{}, err
	}
	defer root.Close()
	files, err := j.merged(in, root)
	if err != nil {
		return runs.Result{}, err
	}
	bundle, err := patch.Bundle(patch.BundleInput{Root: root, BaseRef: j.view.Pins.SiteSHA, Files: files})
	if err != nil {
		return runs.Result{}, err
	}
	if err := j.document(dossier.PatchBundleName, bundle); err != nil {
		return runs.Result{}, err
	}
	applied, err := patch.Apply(root, in.Site.AllowedPaths, bundle, j.cfg.Budgets)
	if err != nil {
		return runs.Result{}, err
	}
	err = j.file(diffReportName, "reports/"+diffReportName, "", patch.DiffReport(bundle, applied))
	return runs.Result{Sections: j.statesOf(sectionDrafted, sectionMerged)}, err
}

// merged returns the drafts and the index pages that lead to them.
func (j *job) merged(in pages.DraftInput, root *os.Root) ([]patch.File, error) {
	var drafts []pages.Page
	var files []patch.File
	for _, p := range in.Plan.Pages {
		content, err := j.folder.Read(draftPath(p.Section, p.OutputPath))
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, pages.Page{OutputPath: p.OutputPath, Content: content})
		files = append(files, patch.File{Path: p.OutputPath, Content: content})
	}
	exists := func(name string) bool { _, err := root.Lstat(name); return err == nil }
	allowed := func(name string) bool { return patch.Allowed(name, in.Site.AllowedPaths) }
	indexes, err := pages.FolderIndexes(in, drafts, exists, allowed)
	if err != nil {
		return nil, err
	}
	for _, p := range indexes {
		files = append(files, patch.File{Path: p.OutputPath, Content: p.Content})
	}
	return files, nil
}

// statesOf moves the sections that are in one state to another.
func (j *job) statesOf(from, to string) map[string]string {
	out := map[string]string{}
	for section, state := range j.view.SectionStates {
		if state == from {
			out[section] = to
		}
	}
	return out
}
