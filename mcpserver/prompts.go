package mcpserver

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

// Bounds of what is said to prompts and completions.
const (
	maxArgument = 2048 // bytes
	maxValues   = 100  // of one completion: the protocol's own
)

func (s *server) offerPrompts(m *mcp.Server) {
	for _, p := range s.o.Prompts {
		offered := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			offered.Arguments = append(offered.Arguments, &mcp.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required})
		}
		m.AddPrompt(offered, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			var text string
			err := s.o.Guard.Read(resourceCaller(req.Session, req.Extra), func() (err error) {
				if err = fits(p, req.Params.Arguments); err == nil {
					text, err = p.Text(req.Params.Arguments)
				}
				return err
			})
			if err != nil {
				return nil, s.resourceError("", err)
			}
			return &mcp.GetPromptResult{Description: p.Description, Messages: []*mcp.PromptMessage{
				{Role: "user", Content: &mcp.TextContent{Text: s.o.Guard.Mask(text)}},
			}}, nil
		})
	}
}

// fits holds the arguments of a prompt against what it asks for.
func fits(p tool.Prompt, args map[string]string) error {
	for _, a := range p.Arguments {
		if a.Required && args[a.Name] == "" {
			return fault.New(fault.InvalidInput, "the prompt %s needs the argument %s", p.Name, a.Name)
		}
	}
	for name, value := range args {
		known := slices.ContainsFunc(p.Arguments, func(a tool.PromptArgument) bool { return a.Name == name })
		switch {
		case !known:
			return fault.New(fault.InvalidInput, "the prompt %s has no argument %.64q", p.Name, name)
		case len(value) > maxArgument || strings.ContainsFunc(value, unicode.IsControl):
			return fault.New(fault.InvalidInput, "the argument %s is one line of at most %d bytes", name, maxArgument)
		}
	}
	return nil
}

// complete proposes values for an argument.
func (s *server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	who, out := resourceCaller(req.Session, req.Extra), &mcp.CompleteResult{}
	err := s.o.Guard.Read(who, func() (err error) {
		b, err := s.blank(req.Params)
		if err != nil {
			return err
		}
		d := &out.Completion
		d.Values, d.HasMore, err = s.o.Complete(ctx, who, b, maxValues)
		return err
	})
	if err != nil {
		return nil, s.resourceError("", err)
	}
	if out.Completion.Values == nil {
		out.Completion.Values = []string{}
	}
	return out, nil
}

// blank reads what is to be completed. Nothing is proposed for what is not offered.
func (s *server) blank(p *mcp.CompleteParams) (tool.Blank, error) {
	b := tool.Blank{Name: p.Argument.Name, Value: p.Argument.Value}
	if p.Context != nil {
		b.Others = p.Context.Arguments
	}
	if len(b.Value) > maxArgument {
		return b, fault.New(fault.InvalidInput, "a value to complete has at most %d bytes", maxArgument)
	}
	switch p.Ref.Type {
	case "ref/prompt":
		b.Prompt = p.Ref.Name
		if slices.ContainsFunc(s.o.Prompts, func(p tool.Prompt) bool { return p.Name == b.Prompt }) {
			return b, nil
		}
		return b, fault.New(fault.InvalidInput, "there is no such prompt").WithHint("prompts/list shows those that there are")
	case "ref/resource":
		b.Template = p.Ref.URI
		if s.o.Resources != nil && slices.ContainsFunc(s.o.Resources.Templates(), func(t tool.Template) bool { return t.URI == b.Template }) {
			return b, nil
		}
		return b, fault.New(fault.InvalidInput, "there is no such resource template").WithHint("resources/templates/list shows those that there are")
	}
	return b, fault.New(fault.InvalidInput, "ref.type is ref/prompt or ref/resource")
}
