package launch

import (
	"path/filepath"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/workflow"
)

// ownWorkflow reads the workflow that a configuration names, with what it brings, if it may
// run; nil for the one that ships. The configuration then names it as it may be shown. A
// path outside the root is POLICY_PATH_ESCAPE, a workflow that starts programs and that
// nobody has allowed ACCESS_DENIED.
func (s *Service) ownWorkflow(cfg *dossier.Config) (*workflow.Definition, error) {
	named := cfg.Workflow
	if named == "" {
		return nil, nil
	}
	at := named
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.o.Root, at)
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		real = filepath.Clean(at)
	}
	if !s.under(real) {
		return nil, outsideRoot()
	}
	d, err := workflow.Open(real, WorkerNames())
	if err != nil {
		return nil, err
	}
	cfg.Workflow = s.shown(d.Path)
	return d, s.o.Consents.Check(d, named)
}
