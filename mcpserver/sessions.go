package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/mcpserver/stdio"
)

// timeSession has the telemetry told when the session that was just opened ends. Clients
// of a revision without sessions never come here.
func (s *server) timeSession(_ context.Context, req *mcp.InitializedRequest) {
	began, session := time.Now(), req.Session
	revision, transport := "", "pipe"
	if session.ID() != "" { // only over HTTP do sessions have one
		transport = "tcp"
	}
	if p := session.InitializeParams(); p != nil {
		revision = p.ProtocolVersion
	}
	go func() {
		_ = session.Wait() // however it ended
		s.o.Guard.Telemetry().SessionEnded(context.Background(), revision, transport, time.Since(began))
	}()
}

// codeOf returns the JSON-RPC code that an error of a request is sent with, 0 for none.
func codeOf(err error) int {
	var wire *jsonrpc.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wire):
		return int(wire.Code)
	}
	return jsonrpc.CodeInternalError
}

// transportOf names the transport of a request as network.transport does.
func transportOf(extra *mcp.RequestExtra) string {
	var header http.Header
	if extra != nil {
		header = extra.Header
	}
	if len(header) == 0 || header.Get(stdio.TransportHeader) == stdio.TransportName {
		return "pipe"
	}
	return "tcp"
}
