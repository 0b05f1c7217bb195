package httpfront

import (
	"net"
	"net/http"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// host refuses a request for a host that is not ours: a page whose name was made to resolve
// to this machine reaches it under that name.
func (f *Front) host(_ http.ResponseWriter, r *http.Request) *refusal {
	if f.ours(r.Host) {
		return nil
	}
	return refuse(http.StatusForbidden, fault.New(fault.AccessDenied, "the Host is not one that this server answers for").
		WithHint("the server's setting allowed_hosts lists them"))
}

func (f *Front) ours(host string) bool {
	host = strings.ToLower(host)
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return f.hosts[host] || f.hosts[name]
}

// origin refuses what a browser sends for a page that is neither ours nor allowed. Programs
// send neither of the two headers.
func (f *Front) origin(w http.ResponseWriter, r *http.Request) *refusal {
	origin := strings.ToLower(r.Header.Get("Origin"))
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case len(r.Header.Values("Origin")) > 1:
	case origin == "" && (site == "" || site == "same-origin" || site == "none"):
		return nil
	case origin == "": // a browser that hides its origin
	case f.origins[origin]:
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
		h.Add("Vary", "Origin")
		return nil
	case origin == "http://"+strings.ToLower(r.Host), origin == "https://"+strings.ToLower(r.Host): // which is ours
		return nil
	}
	return refuse(http.StatusForbidden, fault.New(fault.AccessDenied, "requests of pages of this origin are not taken").
		WithHint("the server's setting allowed_origins lists those that are"))
}

// preflight answers the question of a browser whether a page that is allowed may send what it
// wants to. The page's own request shows the token.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// single refuses headers that are there twice and may have one value: whoever stands in front
// of us may have believed the other one.
func (f *Front) single(_ http.ResponseWriter, r *http.Request) *refusal {
	for name, values := range r.Header {
		if len(values) > 1 && oneValue(name) {
			return refuse(http.StatusBadRequest, fault.New(fault.InvalidInput, "a header that has one value is there twice"))
		}
	}
	return nil
}

func oneValue(name string) bool {
	switch name {
	case "Authorization", "Content-Type", "Content-Length", "Content-Encoding", "Origin", "Last-Event-Id", "Sec-Fetch-Site", "Range", "Traceparent":
		return true
	}
	return strings.HasPrefix(name, "Mcp-")
}
