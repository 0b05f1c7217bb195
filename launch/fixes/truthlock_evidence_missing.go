package fixes

import (
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// removeCiting removes the line whose claim cannot stand.
func removeCiting(_ *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	_, line := issue.At()
	for _, m := range p.Claims {
		if m.Line == line && strings.Contains(issue.Message, m.ID) {
			return p.RemoveLine(line), nil
		}
	}
	return nil, noOp(issue)
}
