package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

func (s *server) offerResources(m *mcp.Server) {
	for _, t := range s.o.Resources.Templates() {
		m.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description}, s.read)
	}
}

func (s *server) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	who, uri := resourceCaller(req.Session, req.Extra), req.Params.URI
	var c tool.Content
	err := s.o.Guard.Read(who, func() (err error) {
		c, err = s.o.Resources.Read(ctx, who, uri)
		return err
	})
	if err != nil {
		return nil, s.resourceError(uri, err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: c.MIMEType, Text: s.o.Guard.Mask(c.Text), Blob: c.Blob},
	}}, nil
}

func resourceCaller(session *mcp.ServerSession, extra *mcp.RequestExtra) guard.Caller {
	return caller(&mcp.CallToolRequest{Session: session, Extra: extra})
}

// resourceError gives a fault its form. What INTERNAL hides from the client goes to
// the log: no call's record does that here.
func (s *server) resourceError(uri string, err error) error {
	f := fault.From(err)
	switch f.Code {
	case fault.RunNotFound, fault.ArtifactNotFound, fault.JobNotFound, fault.SessionNotFound:
		return mcp.ResourceNotFoundError(uri)
	case fault.InvalidInput:
		return rpcError(rpcInvalid, nil, f)
	case fault.Internal:
		if cause := errors.Unwrap(f); cause != nil && s.o.Log != nil {
			s.o.Log.Error("a resource could not be read", "error", cause.Error())
		}
	}
	code, _ := guard.Style(nil, f)
	return rpcError(code, nil, f)
}
