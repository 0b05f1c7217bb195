package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
)

// summary prints what a launch made. It keeps the first error.
type summary struct {
	out io.Writer
	dir string
	v   *runs.View
	err error
}

func newSummary(out io.Writer, dir string, v *runs.View) *summary {
	return &summary{out: out, dir: dir, v: v}
}

func (s *summary) line(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, format+"\n", args...)
	}
}

// read decodes an artifact of the run and reports whether there is one.
func (s *summary) read(name string, doc any) bool {
	a, ok := s.v.Artifacts[name]
	if !ok {
		return false
	}
	raw, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(a.Path)))
	return err == nil && json.Unmarshal(raw, doc) == nil
}

func (s *summary) pages() {
	var facts dossier.ProductFacts
	var evidence dossier.EvidenceMap
	var plan dossier.PagePlan
	if !s.read(dossier.ProductFactsName, &facts) || !s.read(dossier.EvidenceMapName, &evidence) {
		return
	}
	s.line("%s at %.12s: %d claims with their lines, %d API symbols", facts.ProductName, facts.RepoSHA, len(evidence.Claims), facts.APISurface.Symbols)
	for _, m := range facts.Missing {
		s.line("  missing: %s", m)
	}
	if !s.read(dossier.PagePlanName, &plan) {
		return
	}
	s.line("pages:")
	for _, p := range plan.Pages {
		s.line("  %-9s  %-52s  %s", p.Section, p.OutputPath, p.Title)
	}
	for _, p := range plan.Omitted {
		s.line("  left out   %s/%s: %s", p.Section, p.Slug, p.Reason)
	}
}

func (s *summary) gates() {
	var report dossier.ValidationReport
	if !s.read(dossier.ValidationReportName, &report) {
		return
	}
	s.line("gates (profile %s):", report.Profile)
	for _, g := range report.Gates {
		verdict := "ok"
		if !g.OK {
			verdict = "FAILED"
		}
		note := fmt.Sprintf("%d checked", g.Checked)
		if g.Skipped != "" {
			verdict, note = "skipped", g.Skipped
		}
		if g.Issues > 0 {
			note += fmt.Sprintf(", %d issues", g.Issues)
		}
		s.line("  %-8s %-16s %s", verdict, g.Name, note)
	}
	for i, issue := range report.Issues {
		if i == 10 {
			s.line("  and %d more in validation_report.json", len(report.Issues)-i)
			break
		}
		path, line := issue.At()
		s.line("  %s %s:%d %s", issue.Severity, path, line, issue.Message)
	}
}

func (s *summary) pullRequest() {
	var pr dossier.PR
	if !s.read(dossier.PRName, &pr) {
		return
	}
	s.line("pull request: %s", pr.Title)
	s.line("  url:    %s", pr.URL)
	s.line("  branch: %s", pr.Branch)
	s.line("  commit: %s", pr.CommitSHAs[0])
	s.line("  site:   %s", filepath.Join(s.dir, "work", "site"))
	s.line("  patch:  %s", filepath.Join(s.dir, "artifacts", pr.PatchFile))
	if pr.Pushed {
		s.line("  pushed to the site's remote")
	} else if pr.PushNote != "" {
		s.line("  not pushed: %s", pr.PushNote)
	}
}
