package fixes

import (
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// removeMarker removes a marker that names no claim. If that leaves a statement
// uncited, that is the next issue.
func removeMarker(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	now := *p
	for _, m := range slices.Backward(p.Claims) {
		found, err := gates.InvalidMarker(in, p.Path, m)
		if err != nil {
			return nil, fault.New(fault.Internal, "the evidence cannot be read").Because(err)
		}
		if found.ID == issue.ID {
			now.Source = now.ReplaceRange(spaceBefore(p.Source, m.Start), m.End, "")
		}
	}
	return now.Source, nil
}

// spaceBefore returns where the spaces before the offset start, unless they
// start the line.
func spaceBefore(src []byte, at int) int {
	start := at
	for start > 0 && src[start-1] == ' ' {
		start--
	}
	if start == 0 || src[start-1] == '\n' {
		return at
	}
	return start
}
