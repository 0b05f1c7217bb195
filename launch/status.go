package launch

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
)

// Status is what a caller wants to know of a run.
type Status struct {
	ID        runs.ID
	State     runs.State
	Sections  map[string]string
	Issues    []runs.IssueChange // the open ones, in the order in which they are fixed
	Artifacts []Named
	Paused    *runs.Paused
	Failure   *runs.Failure
	Next      *Next
	Chain     Chain
	Rollback  []string
}

// Named is an artifact with its hash.
type Named struct{ Name, SHA256 string }

// Next says which verbs lead on from here. They are named as the tools are.
type Next struct {
	Tools  []string
	Reason string
}

// Chain says whether the run's journal holds.
type Chain struct {
	Verified bool
	Seq      int64
	Hash     string
	FirstBad int64 // the first bad sequence number; 0 when verified
}

// Status returns how a run stands. A run whose journal is damaged is shown as it
// was before the damage.
func (s *Service) Status(ctx context.Context, id runs.ID, owner string) (Status, error) {
	v, err := s.view(id, owner)
	chain := Chain{Verified: true}
	if fault.Is(err, fault.EventChainBroken) {
		v, err = s.salvage(id, owner)
		chain.Verified = false
	}
	if err != nil {
		return Status{}, err
	}
	chain.Seq, chain.Hash = v.Seq, v.Head
	if !chain.Verified {
		chain.FirstBad = v.Seq + 1
	}
	out := Status{
		ID: v.RunID, State: v.State, Sections: v.SectionStates, Issues: s.openIssues(v), Paused: v.Paused, Failure: v.Failure,
		Next: next(v, chain.Verified), Chain: chain,
	}
	for name, a := range v.Artifacts {
		out.Artifacts = append(out.Artifacts, Named{name, a.SHA256})
	}
	slices.SortFunc(out.Artifacts, func(a, b Named) int { return compare(a.Name, b.Name) })
	if v.Published != nil {
		var pr dossier.PR
		if err := s.document(v, dossier.PRName, &pr); err == nil {
			out.Rollback = pr.RollbackSteps
		}
	}
	return out, nil
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// salvage folds a damaged journal up to the damage.
func (s *Service) salvage(id runs.ID, owner string) (*runs.View, error) {
	v := new(runs.View)
	for e, err := range s.o.Store.Events(id, 0) {
		if err != nil || v.Apply(e) != nil {
			break
		}
	}
	if v.RunID == "" || !s.visible(v, owner) {
		return nil, fault.New(fault.RunNotFound, "there is no run %s", id)
	}
	return v, nil
}

// openIssues orders the open issues as the report does.
func (s *Service) openIssues(v *runs.View) []runs.IssueChange {
	var report dossier.ValidationReport
	if err := s.document(v, dossier.ValidationReportName, &report); err != nil {
		return v.Issues
	}
	rank := map[string]int{}
	for i, issue := range report.Issues {
		rank[issue.ID] = i
	}
	out := slices.Clone(v.Issues)
	slices.SortStableFunc(out, func(a, b runs.IssueChange) int { return rank[a.IssueID] - rank[b.IssueID] })
	return out
}

// next says what leads on.
func next(v *runs.View, sound bool) *Next {
	byCommand := map[string]string{"fix": "launch_fix_next", "validate": "launch_validate", "open_pr": "launch_open_pr"}
	switch {
	case !sound:
		return &Next{Reason: "the run's journal is damaged; it is left as it is"}
	case v.State == runs.StateFailed:
		return &Next{Tools: []string{"launch_resume"}, Reason: v.Failure.Message}
	case v.State.Terminal():
		return nil
	case v.Paused != nil:
		out := &Next{Reason: v.Paused.Reason}
		for _, c := range v.Paused.Await {
			if tool, ok := byCommand[c]; ok {
				out.Tools = append(out.Tools, tool)
			}
		}
		return out
	}
	return &Next{Tools: []string{"launch_get_status"}, Reason: "the run is executing " + v.Node}
}

// Slice is a piece of an artifact.
type Slice struct {
	Name        string
	Data        []byte
	ContentType string
	SHA256      string
	Size        int64
	Text        bool  // the whole piece is valid UTF-8
	Next        int64 // where more follows; 0 when nothing does
}

// Artifact returns at most limit bytes of an artifact from offset on. A piece of
// text ends between characters. An unknown name is ARTIFACT_NOT_FOUND.
func (s *Service) Artifact(id runs.ID, owner, name string, offset, limit int64) (Slice, error) {
	v, err := s.view(id, owner)
	if err != nil {
		return Slice{}, err
	}
	out := Slice{Name: name, ContentType: artifacts.ContentType(name)}
	if name == snapshotName {
		return snapshot(v, out, offset, limit)
	}
	a, ok := v.Artifacts[name]
	if name == configName {
		a, ok = runs.Written{Artifact: runs.Artifact{Path: configName}}, true
	}
	if !ok {
		return Slice{}, fault.New(fault.ArtifactNotFound, "run %s has no artifact %.80q", id, name)
	}
	if name == configName {
		return s.config(v, out, offset, limit)
	}
	out.SHA256, out.Size = a.SHA256, a.Size
	out.Data, err = s.reader.Slice(s.o.Store.Dir(id), artifacts.Info{Path: a.Path, SHA256: a.SHA256, Size: a.Size}, offset, limit)
	if err != nil {
		return Slice{}, err
	}
	return finishSlice(out, offset), nil
}

// Files of a run that can be read like artifacts.
const (
	snapshotName = "snapshot.json"
	configName   = "run_config.yaml"
)

func snapshot(v *runs.View, out Slice, offset, limit int64) (Slice, error) {
	raw, err := v.Snapshot()
	if err != nil {
		return Slice{}, err
	}
	return whole(raw, out, offset, limit), nil
}

func (s *Service) config(v *runs.View, out Slice, offset, limit int64) (Slice, error) {
	folder, err := artifacts.Open(s.o.Store.Dir(v.RunID))
	if err != nil {
		return Slice{}, err
	}
	defer folder.Close()
	raw, err := folder.Read(configName)
	if err != nil {
		return Slice{}, err
	}
	return whole(raw, out, offset, limit), nil
}

func whole(raw []byte, out Slice, offset, limit int64) Slice {
	out.Size = int64(len(raw))
	out.SHA256 = hash(raw)
	from := min(offset, out.Size)
	out.Data = raw[from:min(out.Size, from+limit)]
	return finishSlice(out, offset)
}

// finishSlice makes a piece of text end between characters and says where more is.
func finishSlice(out Slice, offset int64) Slice {
	data := out.Data
	for back := 1; back < utf8.UTFMax && back <= len(data) && offset+int64(len(data)) < out.Size; back++ {
		if c := data[len(data)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-back:]) {
				data = data[:len(data)-back]
			}
			break
		}
	}
	if out.Text = utf8.Valid(data); out.Text && len(data) > 0 {
		out.Data = data
	}
	if end := offset + int64(len(out.Data)); end < out.Size && len(out.Data) > 0 {
		out.Next = end
	}
	return out
}

// Summary is a launch in a list.
type Summary = runs.Summary

// Filter says which launches to list.
type Filter struct {
	Product, State string
	Limit          int
	Cursor         string
}

// List returns a page of the launches that the caller may see, newest first.
func (s *Service) List(ctx context.Context, owner string, f Filter) (runs.Page, error) {
	q := runs.Filter{Kind: runs.Launch, State: runs.State(f.State), Product: f.Product, Owner: &owner, Limit: f.Limit, Cursor: f.Cursor}
	if !s.o.AllRoots {
		q.Root = s.rootID()
	}
	return s.o.Store.List(ctx, q)
}

// Visible fails with RUN_NOT_FOUND unless the caller may see the run.
func (s *Service) Visible(id runs.ID, owner string) error {
	_, err := s.view(id, owner)
	if fault.Is(err, fault.EventChainBroken) {
		_, err = s.salvage(id, owner)
	}
	return err
}

// Watch yields the events of a run that the caller may see as they come.
func (s *Service) Watch(ctx context.Context, id runs.ID, owner string, after int64) (func(func(runs.Event, error) bool), error) {
	if _, err := s.view(id, owner); err != nil {
		return nil, err
	}
	return s.o.Store.Watch(ctx, id, after), nil
}

// Seconds are for humans: how long a run has lasted until a moment.
func Seconds(v *runs.View, now time.Time) float64 {
	if v.FinishedAt != nil {
		now = *v.FinishedAt
	}
	return now.Sub(v.CreatedAt).Seconds()
}
