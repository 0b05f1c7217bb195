package gates

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// truthLockGate holds every statement to the evidence: it names a claim, the
// claim exists, its citations lead to lines of the product's repository, and no
// other claim contradicts it.
func truthLockGate() Gate {
	return Gate{
		Name: "truth_lock", Title: "every statement rests on evidence in the repository",
		Codes:   []string{UncitedFact, InvalidClaimID, UnresolvedContradiction, EvidenceMissing},
		Timeout: within(60*time.Second, 120*time.Second), Run: runTruthLock,
	}
}

func runTruthLock(ctx context.Context, in *Input) (Outcome, error) {
	lock, err := newTruthLock(in)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	_, err = in.changedPages(ctx, func(p *page.Page) {
		out.Checked += len(p.Statements)
		out.Issues = append(out.Issues, fresh(in, p, lock.check, itself)...)
	}, nil)
	return out, err
}

// truthLock is the evidence, by claim.
type truthLock struct {
	in        *Input
	claims    map[string]dossier.Claim
	files     map[string]dossier.RepoFile
	lines     map[string]int    // path → lines, once counted
	unsettled map[string]string // claim → the claim that contradicts it, neither preferred
	lost      map[string]string // claim → the claim that was preferred to it
}

func newTruthLock(in *Input) (*truthLock, error) {
	var evidence dossier.EvidenceMap
	if err := in.document(dossier.EvidenceMapName, &evidence); err != nil {
		return nil, err
	}
	var inventory dossier.RepoInventory
	if err := in.document(dossier.RepoInventoryName, &inventory); err != nil {
		return nil, err
	}
	l := &truthLock{
		in: in, claims: map[string]dossier.Claim{}, files: map[string]dossier.RepoFile{}, lines: map[string]int{},
		unsettled: map[string]string{}, lost: map[string]string{},
	}
	for _, c := range evidence.Claims {
		l.claims[c.ID] = c
	}
	for _, f := range inventory.Paths {
		l.files[f.Path] = f
	}
	for _, c := range evidence.Contradictions {
		switch c.Winner {
		case c.ClaimA:
			l.lost[c.ClaimB] = c.ClaimA
		case c.ClaimB:
			l.lost[c.ClaimA] = c.ClaimB
		default:
			l.unsettled[c.ClaimA], l.unsettled[c.ClaimB] = c.ClaimB, c.ClaimA
		}
	}
	return l, nil
}

func (l *truthLock) check(p *page.Page) []dossier.Issue {
	var found []dossier.Issue
	add := func(code string, line int, fix, format string, args ...any) {
		found = append(found, issue("truth_lock", code, dossier.Blocker, p.Path, line, fix, format, args...))
	}
	for _, s := range p.Statements {
		if len(s.ClaimIDs) == 0 {
			found = append(found, UncitedIssue(p.Path, s))
		}
	}
	for _, m := range p.Claims {
		claim, known := l.claims[m.ID]
		if !known {
			found = append(found, invalidMarker(p.Path, m))
			continue
		}
		if why := l.unsupported(claim); why != "" {
			add(EvidenceMissing, m.Line, "Remove the line: what supported it cannot be found.", "claim %s: %s", m.ID, why)
		}
		if other, ok := l.unsettled[m.ID]; ok {
			add(UnresolvedContradiction, m.Line, "Remove the line until the repository says one thing.",
				"claim %s contradicts claim %s and neither is preferred", m.ID, quote(other))
		} else if other, ok := l.lost[m.ID]; ok {
			add(UnresolvedContradiction, m.Line, "Say what the preferred claim says.",
				"claim %s is contradicted by claim %s, which is preferred", m.ID, quote(other))
		}
	}
	return found
}

// UncitedIssue returns the issue of a statement that names no claim.
func UncitedIssue(path string, s page.Statement) dossier.Issue {
	return issue("truth_lock", UncitedFact, dossier.Blocker, path, s.Line,
		"Put <!-- claim_id: … --> of the claim that supports it on the line, or remove the line.",
		"the statement names no claim: %s", quote(s.Text))
}

// InvalidMarker returns the issue of a marker that names no claim of the
// evidence, or the zero value for one that does.
func InvalidMarker(in *Input, path string, m page.Marker) (dossier.Issue, error) {
	var evidence dossier.EvidenceMap
	if err := in.document(dossier.EvidenceMapName, &evidence); err != nil {
		return dossier.Issue{}, err
	}
	if slices.ContainsFunc(evidence.Claims, func(c dossier.Claim) bool { return c.ID == m.ID }) {
		return dossier.Issue{}, nil
	}
	return invalidMarker(path, m), nil
}

func invalidMarker(path string, m page.Marker) dossier.Issue {
	why := "there is no claim " + quote(m.ID)
	if !page.ValidClaimID(m.ID) {
		why = "the marker's claim id is not c and 16 hex digits: " + quote(m.ID)
	}
	return issue("truth_lock", InvalidClaimID, dossier.Blocker, path, m.Line,
		"Name a claim of evidence_map.json, or remove the marker.", "%s", why)
}

// unsupported says what is wrong with the claim's citations, or "".
func (l *truthLock) unsupported(c dossier.Claim) string {
	if len(c.Citations) == 0 {
		return "it cites nothing"
	}
	for _, at := range c.Citations {
		file, ok := l.files[at.Path]
		switch {
		case !ok:
			return "the repository has no file " + quote(at.Path)
		case at.StartLine < 1 || at.EndLine < at.StartLine || at.EndLine > l.lineCount(file):
			return "the cited lines do not exist in " + quote(at.Path)
		}
	}
	return ""
}

// lineCount returns how many lines the file has; if its text is not at hand, how
// many it can have at most.
func (l *truthLock) lineCount(file dossier.RepoFile) int {
	if n, ok := l.lines[file.Path]; ok {
		return n
	}
	n := int(file.Size)
	if l.in.Repo != nil {
		if raw, err := readRegular(l.in.Repo, file.Path); err == nil && len(raw) <= page.MaxSize {
			n = bytes.Count(raw, []byte("\n"))
			if len(raw) > 0 && raw[len(raw)-1] != '\n' {
				n++
			}
		}
	}
	l.lines[file.Path] = n
	return n
}

// ClaimsOf returns the claims that the launch may cite: those with citations
// that hold and no contradiction against them, in the order of the evidence map.
func ClaimsOf(in *Input) ([]dossier.Claim, error) {
	l, err := newTruthLock(in)
	if err != nil {
		return nil, err
	}
	var evidence dossier.EvidenceMap
	if err := in.document(dossier.EvidenceMapName, &evidence); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(evidence.Claims, func(c dossier.Claim) bool {
		return !page.ValidClaimID(c.ID) || l.unsettled[c.ID] != "" || l.lost[c.ID] != "" || l.unsupported(c) != ""
	}), nil
}
