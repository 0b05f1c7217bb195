package fixes

import (
	"slices"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/page"
)

// showCommand shows the command of the facts, if they have one that it must be.
func showCommand(in *gates.Input, p *page.Page, issue dossier.Issue) ([]byte, error) {
	found, err := gates.WrongCommands(in, p)
	if err != nil {
		return nil, fault.New(fault.Internal, "the facts cannot be read").Because(err)
	}
	now := *p
	for _, c := range slices.Backward(found) {
		if c.Issue.ID != issue.ID {
			continue
		}
		if c.Want == "" {
			return nil, unfixable(issue, "the facts know several commands, or one of several lines")
		}
		now.Source = now.ReplaceRange(c.Start, c.End, c.Want)
	}
	return now.Source, nil
}
