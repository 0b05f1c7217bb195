package pages

import (
	"fmt"
	"math"

	"github.com/gantry-run/gantry/launch/dossier"
)

func volumeOf(in PlanInput) dossier.EvidenceVolume {
	v := dossier.EvidenceVolume{Claims: len(in.Evidence.Claims), Snippets: len(in.Snippets.Snippets), Symbols: in.Facts.APISurface.Symbols}
	v.Score = 2*v.Claims + 3*v.Snippets + v.Symbols
	return v
}

// tierFor returns the tier that the evidence carries, and the change if there is one.
func tierFor(asked string, volume dossier.EvidenceVolume, rules Ruleset) (string, []dossier.TierChange) {
	if rules.Tiers[asked] == 0 {
		asked = "standard"
	}
	if volume.Claims >= rules.MinimalBelowClaims || asked == "minimal" {
		return asked, []dossier.TierChange{}
	}
	return "minimal", []dossier.TierChange{{
		Adjustment: "reduced", From: asked, To: "minimal",
		Reason: fmt.Sprintf("the repository gives %d claims, and below %d a launch is minimal", volume.Claims, rules.MinimalBelowClaims),
	}}
}

// quotaFor returns how many pages a section may have: as many as the evidence
// carries, at least the section's smallest number, at most the tier's share of
// its largest.
func quotaFor(section, tier string, score int, rules Ruleset) int {
	quota := rules.Quotas[section]
	most := max(quota.Min, int(math.Round(float64(quota.Max)*rules.Tiers[tier])))
	return min(max(score/max(rules.EvidencePerPage, 1), quota.Min), most)
}
