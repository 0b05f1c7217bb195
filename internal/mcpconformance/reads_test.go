package mcpconformance

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watched is the resource that changes.
const watched = "test://watched-resource"

func addResources(s *mcp.Server) {
	give := func(mime string, c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := c
			c.URI, c.MIMEType = req.Params.URI, mime
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	for _, r := range []struct {
		uri, mime string
		content   mcp.ResourceContents
	}{
		{"test://static-text", "text/plain", mcp.ResourceContents{Text: "This is the content of the static text resource."}},
		{"test://static-binary", "image/png", mcp.ResourceContents{Blob: bytesOf(pixel)}},
		{watched, "text/plain", mcp.ResourceContents{Text: "Watched resource content"}},
	} {
		s.AddResource(&mcp.Resource{URI: r.uri, Name: strings.TrimPrefix(r.uri, "test://"), MIMEType: r.mime}, give(r.mime, r.content))
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
			}}}, nil
		})
}

func addPrompts(s *mcp.Server) {
	user := func(c mcp.Content) *mcp.PromptMessage { return &mcp.PromptMessage{Role: "user", Content: c} }
	add := func(name string, messages func(args map[string]string) []*mcp.PromptMessage, args ...string) {
		p := &mcp.Prompt{Name: name, Description: "Of the conformance suite"}
		for _, a := range args {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "An argument", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: messages(req.Params.Arguments)}, nil
		})
	}
	add("test_simple_prompt", func(map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.TextContent{Text: "This is a simple prompt for testing."})}
	})
	add("test_prompt_with_arguments", func(args map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])})}
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(args map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(embedded(args["resourceUri"])), user(&mcp.TextContent{Text: "Please process the embedded resource above."})}
	}, "resourceUri")
	add("test_prompt_with_image", func(map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(image()), user(&mcp.TextContent{Text: "Please analyze the image above."})}
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "Asks first"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if given := filled(req.Params.InputResponses, "user_context"); given != nil {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{user(&mcp.TextContent{Text: fmt.Sprintf("Context: %v", given["context"])})}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": form("Please provide context", "context", "string")}}, nil
	})
}
