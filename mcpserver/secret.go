package mcpserver

import (
	"context"
	"crypto/subtle"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/internal/fault"
)

// SecretMember is the member of _meta in which a client shows the secret that it shares
// with the server.
const SecretMember = "gantry/auth_token"

// door lets in who shows the shared secret: in initialize, for all that follows, or in each
// request. It is for a transport with one client.
type door struct {
	secret string
	opened atomic.Bool
}

// shown reports whether a request may come in, and remembers an initialize that shows the
// secret.
func (d *door) shown(method string, req mcp.Request) bool {
	if d.secret == "" {
		return true
	}
	given := ""
	if p := req.GetParams(); p != nil && !reflect.ValueOf(p).IsNil() { // a message without parameters has a nil of their type
		given, _ = p.GetMeta()[SecretMember].(string)
	}
	right := subtle.ConstantTimeCompare([]byte(given), []byte(d.secret)) == 1
	if right && method == "initialize" {
		d.opened.Store(true)
	}
	return right || d.opened.Load()
}

// free reports whether a method is for everybody.
func free(method string) bool {
	return method == "initialize" || method == "ping" || strings.HasPrefix(method, "notifications/")
}

// admit refuses what comes without the secret. A call of a tool is refused by the guard,
// which records it.
func (s *server) admit(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		shown := s.door.shown(method, req)
		if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
			return next(ctx, method, req)
		}
		if !shown && !free(method) {
			return nil, rpcError(rpcInternal, nil, s.o.Guard.Present(unauthorized()))
		}
		return next(ctx, method, req)
	}
}

// rpcInternal is JSON-RPC's code for what is not about the message itself.
const rpcInternal = -32603

func unauthorized() *fault.Fault {
	return fault.New(fault.Unauthorized, "the request does not carry the secret that this server wants")
}
