package httpfront

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/tokens"
)

// Headers that the front puts on a request for those behind it. It takes every header with
// their prefix away first.
const (
	ownPrefix    = "X-Gantry-"
	tokenHeader  = ownPrefix + "Token"
	scopesHeader = ownPrefix + "Scopes"
)

// Who returns whose token came with a request that passed the front. It is not ok where
// callers need no token.
func Who(h http.Header) (who tokens.Identity, ok bool) {
	who = tokens.Identity{Name: h.Get(tokenHeader), Scopes: []string{}}
	if scopes := h.Get(scopesHeader); scopes != "" {
		who.Scopes = strings.Split(scopes, ",")
	}
	return who, who.Name != ""
}

// bearer finds out who calls.
func (f *Front) bearer(_ http.ResponseWriter, r *http.Request) *refusal {
	for name := range r.Header {
		if strings.HasPrefix(name, ownPrefix) {
			delete(r.Header, name)
		}
	}
	if !f.o.Tokens.Configured() || r.Method == http.MethodOptions {
		return nil
	}
	secret := shown(r.Header.Get("Authorization"))
	who, known := f.o.Tokens.Find(secret)
	if wait := f.guesses.vet(address(r.RemoteAddr), who.Name, known, f.o.Now()); wait > 0 {
		return refuse(http.StatusTooManyRequests, fault.Retry(fault.RateLimited, "too many tokens of this address were not valid").
			WithDetails(map[string]int64{"retry_after_ms": wait.Milliseconds()})).after(wait)
	}
	if !known {
		challenge, why := `Bearer realm="gantry"`, "a bearer token is required"
		if secret != "" {
			challenge, why = challenge+`, error="invalid_token"`, "the bearer token is not valid"
		}
		return refuse(http.StatusUnauthorized, fault.New(fault.AuthInvalidToken, "%s", why)).with("WWW-Authenticate", challenge)
	}
	r.Header.Del("Authorization")
	r.Header.Set(tokenHeader, who.Name)
	r.Header.Set(scopesHeader, strings.Join(who.Scopes, ","))
	return nil
}

// shown returns the token of an Authorization header, "" when it has none.
func shown(authorization string) string {
	scheme, secret, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(secret)
}

// scope refuses a token that lacks the scope. Without tokens there is nobody to refuse.
func (f *Front) scope(r *http.Request, need string) *refusal {
	who, ok := Who(r.Header)
	if need == "" || !ok || slices.Contains(who.Scopes, need) {
		return nil
	}
	return refuse(http.StatusForbidden, fault.New(fault.AuthInsufficientScope, "this needs a token with the scope %s", need)).
		with("WWW-Authenticate", InsufficientScope(need))
}

// InsufficientScope is the WWW-Authenticate of an answer that asks for a scope.
func InsufficientScope(need string) string {
	return `Bearer realm="gantry", error="insufficient_scope", scope="` + need + `"`
}

// address is what guesses are counted by: an IPv4 address, or the network of an IPv6 one,
// for its holder has all addresses of it.
func address(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		network, _ := ip.Prefix(64)
		return network.String()
	}
	return ip.String()
}
