package tool

import (
	"context"

	"github.com/gantry-run/gantry/mcpserver/guard"
)

// Prompt is a text that a user chooses in a client, for an agent to follow.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument

	// Text writes it. A client has given every argument that is required, none that the
	// prompt does not have, and nothing that is not one line.
	Text func(args map[string]string) (string, error)
}

// PromptArgument is what a user fills in.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// Blank is what is to be completed: an argument of a prompt or of a resource's URI, with
// what is written already.
type Blank struct {
	Prompt   string // its name, or
	Template string // the URI template of the resource
	Name     string
	Value    string
	Others   map[string]string // arguments that are filled in
}

// Completer proposes values for a blank that begin with what is written, the best first, and
// says whether there are more. It returns no more than most. What it knows nothing about has
// no proposals.
type Completer func(ctx context.Context, who guard.Caller, b Blank, most int) (values []string, more bool, err error)
