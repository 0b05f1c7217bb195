package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/runs"
)

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// repeats reports whether the request was made before under its key. Then what came
// of it is told again, whatever state that has led to.
func (s *Service) repeats(v *runs.View, a Ask) bool {
	if a.Once == nil {
		return false
	}
	_, known := v.Keyed(a.Once.Key, s.o.Now())
	return known
}

// document decodes an artifact of a run.
func (s *Service) document(v *runs.View, name string, doc any) error {
	folder, err := artifacts.Open(s.o.Store.Dir(v.RunID))
	if err != nil {
		return err
	}
	defer folder.Close()
	raw, err := readArtifact(folder, v, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, doc)
}

// changeable returns a run that the caller may change: one that it may see, with a sound
// journal.
func (s *Service) changeable(ctx context.Context, id runs.ID, owner string) (*runs.View, error) {
	v, err := s.view(id, owner)
	if err == nil {
		err = s.o.Store.Sound(ctx, id)
	}
	return v, err
}

// Validate runs the gates on what is in the site's work tree now and returns the
// report. A run that is READY_FOR_PR goes back to VALIDATING if it fails; once a pull
// request is open, it only reports.
func (s *Service) Validate(ctx context.Context, a Ask, id runs.ID) (dossier.ValidationReport, error) {
	var report dossier.ValidationReport
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return report, err
	}
	const needs = "a run in LINKING or later, with the site's work tree"
	switch {
	case s.repeats(v, a):
	case v.State == runs.StateFailed || v.State == runs.StateCancelled || v.State.Before(runs.StateLinking) ||
		!isFolder(filepath.Join(s.o.Store.Dir(id), "work", "site")):
		return report, illegal(v, "validating", needs)
	case v.State == runs.StatePROpened || v.State == runs.StateDone:
		return s.reportOnly(ctx, v)
	}
	v, err = s.command(ctx, v, a, runs.Command{Type: "validate"})
	if err != nil {
		return report, err
	}
	return report, s.document(v, dossier.ValidationReportName, &report)
}

// reportOnly runs the gates and keeps nothing of it.
func (s *Service) reportOnly(ctx context.Context, v *runs.View) (dossier.ValidationReport, error) {
	var cfg dossier.Config
	if err := json.Unmarshal(v.Created.Input, &cfg); err != nil {
		return dossier.ValidationReport{}, err
	}
	dir := s.o.Store.Dir(v.RunID)
	folder, err := artifacts.Open(dir)
	if err != nil {
		return dossier.ValidationReport{}, err
	}
	defer folder.Close()
	in, done, err := (&workers{git: s.o.Git, env: s.o.Env, egress: s.o.Egress}).gateInput(ctx, dir, v, cfg, folder)
	if err != nil {
		return dossier.ValidationReport{}, err
	}
	defer done()
	report, _, err := gates.RunAll(ctx, in, gates.All(), nil)
	return report, err
}

// Fixed is what fixing one issue led to.
type Fixed struct {
	IssueID   string
	PatchIDs  []string
	Remaining int // open issues
	Blockers  int // of these, the ones that keep the report from being ok
	Report    dossier.ValidationReport
}

// FixNext repairs the first issue that keeps the report from being ok and validates
// again. An issue that was fixed too often is FIX_EXHAUSTED, one that only a person can
// repair FIXER_UNFIXABLE; the run stays as it is.
func (s *Service) FixNext(ctx context.Context, a Ask, id runs.ID) (Fixed, error) {
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return Fixed{}, err
	}
	if v.State != runs.StateValidating && v.State != runs.StateFixing && !s.repeats(v, a) {
		return Fixed{}, illegal(v, "fixing", "a run in VALIDATING whose report is not ok")
	}
	if v, err = s.command(ctx, v, a, runs.Command{Type: "fix"}); err != nil {
		return Fixed{}, err
	}
	var did fixed
	if err := json.Unmarshal(v.Results["fix_next"].Data, &did); err != nil {
		return Fixed{}, err
	}
	if did.Failure != nil {
		return Fixed{}, unfail(*did.Failure)
	}
	out := Fixed{IssueID: did.IssueID, PatchIDs: did.PatchIDs}
	if err := s.document(v, dossier.ValidationReportName, &out.Report); err != nil {
		return Fixed{}, err
	}
	for _, i := range out.Report.Issues {
		out.Remaining++
		if dossier.Fails(i.Severity, out.Report.Strict) {
			out.Blockers++
		}
	}
	return out, nil
}

// Resume continues a run that nobody drives, from its last stable state. It executes again
// what was made from an artifact whose file somebody has changed since, and the node force,
// which the run has come to, with what depends on it.
func (s *Service) Resume(ctx context.Context, a Ask, id runs.ID, force string) (runs.State, error) {
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return "", err
	}
	again := s.repeats(v, a)
	if !again && (v.State == runs.StateDone || v.State == runs.StateCancelled) {
		return "", illegal(v, "resuming", "a run that is not over")
	}
	if !again && v.Busy() && s.o.Store.Driven(id) {
		return "", fault.Retry(fault.RunLocked, "run %s is being executed: it is at %s", id, v.Node)
	}
	changed, err := s.changed(v)
	if err != nil {
		return "", err
	}
	if v, err = s.command(ctx, v, a, runs.Command{Type: runs.Resume, Force: force, Changed: changed}); err != nil {
		return "", err
	}
	return v.State, nil
}

// cancelWait is how long a cancel waits to see its effect before it answers.
const cancelWait = 2 * time.Second

// Cancel ends a run. It takes no lock and answers once the request is durable; the
// state that it returns may still be the one before.
func (s *Service) Cancel(ctx context.Context, a Ask, id runs.ID) (runs.State, error) {
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return "", err
	}
	if v.State == runs.StateDone || v.State == runs.StateFailed {
		return "", illegal(v, "cancelling", "a run that is not over")
	}
	soon, stop := context.WithTimeoutCause(ctx, cancelWait, errStillWorking)
	defer stop()
	v, err = s.command(soon, v, a, runs.Command{Type: runs.Cancel})
	if errors.Is(err, errStillWorking) {
		v, err = s.view(id, a.Owner)
	}
	if err != nil {
		return "", err
	}
	return v.State, nil
}

var errStillWorking = errors.New("the run has not come to rest yet")

// The commands that open a pull request.
const (
	openPRCommand    = "open_pr"
	openDraftCommand = "open_draft" // although validation failed
)

// OpenPR opens the pull request of a run that is ready for it. Called again, it
// returns the same one. With draft, one whose validation failed gets a pull request that
// is a draft.
func (s *Service) OpenPR(ctx context.Context, a Ask, id runs.ID, draft bool) (runs.Published, error) {
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return runs.Published{}, err
	}
	if v.Published != nil && (v.State == runs.StatePROpened || v.State == runs.StateDone) {
		return *v.Published, nil
	}
	const needs = "a run in READY_FOR_PR with a report that is ok, or one in VALIDATING and draft"
	command := openPRCommand
	switch {
	case v.State == runs.StateReadyForPR:
	case v.State == runs.StateValidating && draft:
		command = openDraftCommand
	default:
		return runs.Published{}, illegal(v, "opening a pull request", needs)
	}
	if v, err = s.command(ctx, v, a, runs.Command{Type: command}); err != nil {
		return runs.Published{}, err
	}
	if v.Published == nil {
		return runs.Published{}, illegal(v, "opening a pull request", needs)
	}
	return *v.Published, nil
}

// PullRequest returns what a run has published, with the steps that undo it. A run that
// has published nothing is ILLEGAL_STATE.
func (s *Service) PullRequest(id runs.ID, owner string) (dossier.PR, error) {
	var pr dossier.PR
	v, err := s.view(id, owner)
	if err != nil {
		return pr, err
	}
	if v.Published == nil {
		return pr, illegal(v, "a rollback", "a run that has published something")
	}
	return pr, s.document(v, dossier.PRName, &pr)
}
