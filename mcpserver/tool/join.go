package tool

import (
	"context"
	"iter"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
)

// Join returns the resources of several sources as one. A URI belongs to the first source
// with a template of its scheme.
func Join(sources ...Resources) Resources { return joined(sources) }

type joined []Resources

// Templates implements [Resources].
func (j joined) Templates() (all []Template) {
	for _, r := range j {
		all = append(all, r.Templates()...)
	}
	return all
}

// of returns whose a URI is.
func (j joined) of(uri string) (Resources, error) {
	scheme, _, _ := strings.Cut(uri, "://")
	for _, r := range j {
		for _, t := range r.Templates() {
			if strings.HasPrefix(t.URI, scheme+"://") {
				return r, nil
			}
		}
	}
	return nil, fault.New(fault.InvalidInput, "no resource has such a URI").WithHint("resources/templates/list shows which do")
}

// Read implements [Resources].
func (j joined) Read(ctx context.Context, who guard.Caller, uri string) (Content, error) {
	r, err := j.of(uri)
	if err != nil {
		return Content{}, err
	}
	return r.Read(ctx, who, uri)
}

// Changes implements [Resources].
func (j joined) Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error) {
	r, err := j.of(uri)
	if err != nil {
		return nil, err
	}
	return r.Changes(ctx, who, uri)
}
