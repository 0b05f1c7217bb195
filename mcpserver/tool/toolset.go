package tool

import (
	"fmt"

	"github.com/gantry-run/gantry/specs"
)

// Maker makes the tool of a specification.
type Maker func(specs.Tool) Tool

// Of makes the tools of a toolset in the order of their specifications, each by the maker
// of its name; a tool that is the same as another has that one's. Every specification has
// to have a maker.
func Of(toolset string, makers map[string]Maker) ([]Tool, error) {
	all, err := specs.Tools(toolset)
	if err != nil {
		return nil, err
	}
	out := make([]Tool, len(all))
	for i, s := range all {
		name := s.Name
		if s.SameAs != "" {
			name = s.SameAs
		}
		maker, ok := makers[name]
		if !ok {
			return nil, fmt.Errorf("the tool %s has a specification and no handler", s.Name)
		}
		out[i] = maker(s)
	}
	return out, nil
}
