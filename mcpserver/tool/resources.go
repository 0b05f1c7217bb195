package tool

import (
	"context"
	"iter"

	"github.com/gantry-run/gantry/mcpserver/guard"
)

// Resources gives what can be read by URI.
type Resources interface {
	// Templates returns the URI templates.
	Templates() []Template

	// Read returns a resource. A URI that names nothing is RUN_NOT_FOUND,
	// ARTIFACT_NOT_FOUND or INVALID_INPUT.
	Read(ctx context.Context, who guard.Caller, uri string) (Content, error)

	// Changes yields once for each change of the resource, until ctx ends or the
	// resource cannot change any more.
	Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error)
}

// Template is a URI template with what is behind it.
type Template struct {
	URI, Name, Title, Description string
}

// Content is a resource's content, text or not.
type Content struct {
	MIMEType string
	Text     string
	Blob     []byte // when it is not text
}
