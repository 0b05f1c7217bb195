package mcpserver

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// versionHeader names the revision of the protocol that a request speaks.
const versionHeader = "Mcp-Protocol-Version"

// firstStateless is the first revision of the protocol without sessions. Revisions are
// dates, and compare as text.
const firstStateless = "2026-07-28"

// HTTP serves one path over Streamable HTTP, for both eras of the protocol: clients that
// open a session and clients that send every request on its own. Its sessions are its own,
// so one that was opened on this path is unknown on every other.
type HTTP struct {
	sessions, requests http.Handler
}

// NewHTTP returns the handler of one path.
func NewHTTP(m *mcp.Server) *HTTP {
	of := func(*http.Request) *mcp.Server { return m }
	return &HTTP{
		sessions: mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{}),
		requests: mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}),
	}
}

// ServeHTTP implements [http.Handler].
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(versionHeader) >= firstStateless {
		h.requests.ServeHTTP(w, r)
		return
	}
	h.sessions.ServeHTTP(w, r)
}
