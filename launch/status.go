package launch

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
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

	Tool             string // whose call started it; "" for a person's
	Created, Updated time.Time
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
// was before the damage. What is in it is shared: do not change it.
func (s *Service) Status(ctx context.Context, id runs.ID, owner string) (Status, error) {
	v, err := s.view(id, owner)
	if fault.Is(err, fault.EventChainBroken) {
		v, err = s.salvage(id, owner)
	}
	if err != nil {
		return Status{}, err
	}
	if known, ok := s.remembered(v); ok {
		return known, nil
	}
	chain, err := s.verify(ctx, v)
	if err != nil {
		return Status{}, err
	}
	out := Status{
		ID: v.RunID, State: v.State, Sections: v.SectionStates, Issues: s.openIssues(v), Paused: v.Paused, Failure: v.Failure,
		Next: next(v, chain.Verified), Chain: chain, Tool: v.Created.Tool, Created: v.CreatedAt, Updated: v.UpdatedAt,
	}
	for name, a := range v.Artifacts {
		out.Artifacts = append(out.Artifacts, Named{name, a.SHA256})
	}
	slices.SortFunc(out.Artifacts, func(a, b Named) int { return strings.Compare(a.Name, b.Name) })
	if v.Published != nil {
		var pr dossier.PR
		if err := s.document(v, dossier.PRName, &pr); err == nil {
			out.Rollback = pr.RollbackSteps
		}
	}
	s.remember(out)
	return out, nil
}

// keptStatuses is how many statuses are remembered.
const keptStatuses = 1024

// remembered returns the status of a run that has not changed since it was asked for
// last: callers poll.
func (s *Service) remembered(v *runs.View) (Status, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.statuses[v.RunID]
	return known, ok && known.Chain.Hash == v.Head
}

// remember keeps a status for as long as the run's head stays. One of a damaged journal
// is looked at again: somebody may put the file back.
func (s *Service) remember(status Status) {
	if !status.Chain.Verified {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.statuses) >= keptStatuses {
		clear(s.statuses)
	}
	s.statuses[status.ID] = status
}

// verify checks the run's whole journal.
func (s *Service) verify(ctx context.Context, v *runs.View) (Chain, error) {
	r, err := s.o.Store.Verify(ctx, v.RunID)
	if err != nil {
		return Chain{}, err
	}
	return Chain{Verified: r.OK, Seq: v.Seq, Hash: v.Head, FirstBad: r.FirstBad}, nil
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
		return nil, fault.New(fault.RunNotFound, "there is no run %q", id)
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
	switch {
	case !sound:
		return &Next{Reason: "the run's journal is damaged; it is left as it is"}
	case v.State == runs.StateFailed:
		return &Next{Tools: []string{"launch_resume"}, Reason: reasonOf(*v.Failure)}
	case v.State.Terminal():
		return nil
	case v.Paused != nil:
		out := &Next{Reason: v.Paused.Reason}
		for _, c := range v.Paused.Await {
			if verb := verbOf(c); verb != "" {
				out.Tools = append(out.Tools, verb)
			}
		}
		return out
	}
	if v.Node == "" {
		return &Next{Tools: []string{"launch_get_status"}, Reason: "the run is about to begin"}
	}
	return &Next{Tools: []string{"launch_get_status"}, Reason: "the run is executing " + v.Node}
}

// verbOf returns the verb that gives a command; "" for commands that are nobody's to give.
func verbOf(command string) string {
	switch command {
	case "fix":
		return "launch_fix_next"
	case "validate", "open_pr":
		return "launch_" + command
	}
	return ""
}

// commandOf returns the command that a paused run awaits of a verb, or "".
func commandOf(v *runs.View, verb string) string {
	for _, c := range v.Paused.Await {
		if verb != "" && verbOf(c) == verb {
			return c
		}
	}
	return ""
}

const maxReason = 500 // bytes, of the status's schema

// reasonOf says why a run failed and what to do about it, for a reader who gets
// nothing but a sentence.
func reasonOf(f runs.Failure) string {
	reason := f.Code + ": " + f.Message
	hint := f.Hint
	if hint == "" {
		info, _ := specs.Error(fault.Code(f.Code))
		hint = info.Hint
	}
	if hint != "" {
		reason += ". " + hint
	}
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason-3], "") + "…"
	}
	return reason
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

// Files of a run that can be read like artifacts.
const (
	SnapshotName = "snapshot.json"   // made from the journal when it is asked for
	ConfigName   = "run_config.yaml" // the effective configuration
	EventsName   = "events.ndjson"   // the journal
)

// Artifact returns at most limit bytes of an artifact from offset on. A piece of
// text ends between characters. An unknown name is ARTIFACT_NOT_FOUND.
func (s *Service) Artifact(id runs.ID, owner, name string, offset, limit int64) (Slice, error) {
	v, err := s.view(id, owner)
	if err != nil {
		return Slice{}, err
	}
	out := Slice{Name: name, ContentType: artifacts.ContentType(name)}
	dir := s.o.Store.Dir(id)
	switch name {
	case SnapshotName:
		raw, err := v.Snapshot()
		if err != nil {
			return Slice{}, err
		}
		from := min(offset, int64(len(raw)))
		out.SHA256, out.Size, out.Data = hash(raw), int64(len(raw)), raw[from:min(int64(len(raw)), from+limit)]
		return finishSlice(out, offset), nil
	case ConfigName, EventsName:
		if out.SHA256, out.Data, out.Size, err = plainFile(dir, name, offset, limit); err != nil {
			return Slice{}, err
		}
		return finishSlice(out, offset), nil
	}
	a, ok := v.Artifacts[name]
	if !ok {
		return Slice{}, fault.New(fault.ArtifactNotFound, "run %s has no artifact %.80q", id, name)
	}
	out.SHA256, out.Size = a.SHA256, a.Size
	out.Data, err = s.reader.Slice(dir, artifacts.Info{Path: a.Path, SHA256: a.SHA256, Size: a.Size}, offset, limit)
	if err != nil {
		return Slice{}, err
	}
	return finishSlice(out, offset), nil
}

// plainFile reads a slice of a file that has no event of its own, and hashes all
// of it as it is now.
func plainFile(dir, name string, offset, limit int64) (sha string, data []byte, size int64, err error) {
	folder, err := artifacts.Open(dir)
	if err != nil {
		return "", nil, 0, err
	}
	defer folder.Close()
	if sha, err = folder.Hash(name); err != nil {
		return "", nil, 0, err
	}
	data, size, err = folder.Slice(name, offset, limit)
	return sha, data, size, err
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
	// A piece too short for its first character is given as bytes: it must lead on. So is
	// one with a NUL, which no text has and which takes six characters in JSON.
	out.Text = utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 && (len(data) > 0 || len(out.Data) == 0)
	if out.Text {
		out.Data = data
	}
	if end := offset + int64(len(out.Data)); end < out.Size && len(out.Data) > 0 {
		out.Next = end
	}
	return out
}

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
		q.Root = s.RootID()
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

// Watch yields the events to come of a run that the caller may see, until it is over.
func (s *Service) Watch(ctx context.Context, id runs.ID, owner string) (iter.Seq2[runs.Event, error], error) {
	v, err := s.view(id, owner)
	if err != nil {
		return nil, err
	}
	return s.o.Store.Watch(ctx, id, v.Seq), nil
}
