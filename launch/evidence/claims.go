package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/gantry-run/gantry/launch/dossier"
)

// The kinds of a claim.
const (
	kindFeature       = "feature"
	kindInstall       = "install"
	kindQuickstart    = "quickstart"
	kindWorkflow      = "workflow"
	kindLimitation    = "limitation"
	kindCompatibility = "compatibility"
	kindAPI           = "api"
	kindMetadata      = "metadata"
	kindFormat        = "format"
)

// The kinds of a source, in order of authority.
const (
	fromManifest  = "manifest"
	fromCode      = "source_code"
	fromTest      = "test"
	fromDoc       = "implementation_doc"
	fromAPIDoc    = "api_doc"
	fromTechnical = "readme_technical"
	fromMarketing = "readme_marketing"
)

// authority ranks a source type; lower is higher.
func authority(sourceType string) int {
	return slices.Index([]string{fromManifest, fromCode, fromTest, fromDoc, fromAPIDoc, fromTechnical, fromMarketing}, sourceType)
}

const (
	fact      = "fact"
	inference = "inference"
)

// claimSet holds the claims by their normalised text, so that one statement made
// twice is one claim with two citations.
type claimSet struct {
	ruleset string
	byText  map[string]*dossier.Claim
	order   []*dossier.Claim // as added
}

func newClaimSet(ruleset string) claimSet {
	return claimSet{ruleset: ruleset, byText: map[string]*dossier.Claim{}}
}

// add records a claim and returns its id. The anchor (path#slug) counts for the
// first place only.
func (s *claimSet) add(text, kind, truth, anchor string, at dossier.Citation) string {
	key := normalised(text)
	claim := s.byText[key]
	if claim == nil {
		claim = &dossier.Claim{ID: claimID(key, anchor, s.ruleset), Text: text, Kind: kind, Truth: truth}
		s.byText[key] = claim
		s.order = append(s.order, claim)
	}
	if truth == fact {
		claim.Truth = fact
	}
	if !slices.Contains(claim.Citations, at) {
		claim.Citations = append(claim.Citations, at)
	}
	return claim.ID
}

// replace gives the newest claim another text, if it is the one with the old text
// and has no other source. It keeps its kind.
func (s *claimSet) replace(old, text, anchor string, at dossier.Citation) bool {
	last := len(s.order) - 1
	if last < 0 || s.order[last].Text != old || len(s.order[last].Citations) > 1 || s.byText[normalised(text)] != nil {
		return false
	}
	claim := s.order[last]
	delete(s.byText, normalised(old))
	key := normalised(text)
	claim.ID, claim.Text, claim.Citations = claimID(key, anchor, s.ruleset), text, []dossier.Citation{at}
	s.byText[key] = claim
	return true
}

// cite adds a source to a claim.
func (s *claimSet) cite(id string, at dossier.Citation) {
	if claim := s.get(id); claim != nil && !slices.Contains(claim.Citations, at) {
		claim.Citations = append(claim.Citations, at)
	}
}

func (s *claimSet) get(id string) *dossier.Claim {
	for _, claim := range s.order {
		if claim.ID == id {
			return claim
		}
	}
	return nil
}

// sorted returns the claims by id, each with its citations by authority, path and line.
func (s *claimSet) sorted() []dossier.Claim {
	claims := make([]dossier.Claim, 0, len(s.order))
	for _, claim := range s.order {
		c := *claim
		c.Citations = slices.Clone(c.Citations)
		slices.SortFunc(c.Citations, func(a, b dossier.Citation) int {
			return cmp.Or(cmp.Compare(authority(a.SourceType), authority(b.SourceType)), cmp.Compare(a.Path, b.Path),
				cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.EndLine, b.EndLine))
		})
		claims = append(claims, c)
	}
	slices.SortFunc(claims, func(a, b dossier.Claim) int { return cmp.Compare(a.ID, b.ID) })
	return claims
}

// normalised is the text in NFC, lower case, with single spaces and no final full stop.
func normalised(text string) string {
	text = strings.ToLower(norm.NFC.String(text))
	return strings.TrimRight(strings.Join(strings.Fields(text), " "), ".")
}

func claimID(normalisedText, anchor, ruleset string) string {
	return "c" + shortHash(normalisedText, anchor, ruleset)
}

// shortHash is 16 hex digits of SHA-256 over the parts, joined by a byte that no text holds.
func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func cite(path string, start, end int, sourceType string) dossier.Citation {
	return dossier.Citation{Path: path, StartLine: max(start, 1), EndLine: max(end, start, 1), SourceType: sourceType}
}
