// Package egress bounds what a launch may reach outside of this machine, and which
// secrets it may show there.
//
// A run_config comes from a client. It names endpoints, and the environment variables that
// hold their tokens: without bounds it could send any variable of the server to any host. So
// a person lists, in the configuration of the program, the hosts and the variables; a
// run_config chooses among them. The values of the variables never enter a run's folder:
// workers ask a [Policy] for one when they need it.
//
// A token is sent over TLS, or to this machine. No redirect is followed: it could lead the
// token to a host that nobody listed.
package egress

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Policy says which hosts may be reached and which secrets there are. The zero Policy
// allows nothing. It is safe for concurrent use.
type Policy struct {
	hosts   []string
	secrets map[string]string
}

// New returns the policy of a configuration. A host is a name, which stands for each of
// its ports, host:port, or *.domain, which does not stand for the domain itself. secrets
// has an entry for each variable that may be named, empty for one that is not set.
func New(hosts []string, secrets map[string]string) *Policy {
	p := &Policy{secrets: maps.Clone(secrets)}
	for _, h := range hosts {
		p.hosts = append(p.hosts, strings.ToLower(strings.TrimSpace(h)))
	}
	return p
}

// Check refuses an address with NETWORK_BLOCKED unless it is an http or https URL of a
// host that is listed, without credentials, and https unless the host is this machine.
func (p *Policy) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return blocked("the address is no http or https URL")
	case u.User != nil:
		return blocked("the address holds credentials")
	case u.Scheme == "http" && !thisMachine(u.Hostname()):
		return blocked("an address that is not on this machine must be https")
	case !p.lists(u):
		return blocked("the host %.253q is not among launch.hosts of the configuration", u.Host).
			WithHint("who runs the server can add it to hosts in [launch] of gantry.toml")
	}
	return nil
}

func blocked(format string, args ...any) *fault.Fault {
	return fault.New(fault.NetworkBlocked, format, args...)
}

func (p *Policy) lists(u *url.URL) bool {
	if p == nil {
		return false
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return slices.ContainsFunc(p.hosts, func(pattern string) bool {
		if domain, ok := strings.CutPrefix(pattern, "*"); ok {
			return strings.HasPrefix(domain, ".") && strings.HasSuffix(host, domain) && len(host) > len(domain)
		}
		return pattern == host || pattern == net.JoinHostPort(host, port)
	})
}

// thisMachine reports whether a host is the loopback interface by its name or number.
func thisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || strings.EqualFold(host, "localhost")
}

// Secret returns the value of a variable. One that is not listed is NETWORK_BLOCKED, one
// that is not set CONFIG_INVALID.
func (p *Policy) Secret(variable string) (string, error) {
	if p == nil {
		p = new(Policy)
	}
	value, listed := p.secrets[variable]
	switch {
	case !listed:
		return "", blocked("the variable %.128q is not among launch.secrets of the configuration", variable).
			WithHint("who runs the server can add it to secrets in [launch] of gantry.toml")
	case value == "":
		return "", fault.New(fault.ConfigInvalid, "the environment variable %.128q is not set", variable).
			WithHint("start the server with the variable set, then launch_resume the run")
	}
	return value, nil
}

// Client returns an HTTP client whose requests end after the timeout. It reaches no host
// that is not listed and follows no redirect: the answer that asks for one is returned.
// Close its idle connections when done.
func (p *Policy) Client(timeout time.Duration) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{
		Timeout:       timeout,
		Transport:     guarded{p, transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// guarded checks each request, whoever made its address.
type guarded struct {
	policy *Policy
	next   *http.Transport
}

// RoundTrip sends a request, or refuses it with NETWORK_BLOCKED.
func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.policy.Check(r.URL.String()); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // nothing was read of it
		}
		return nil, err
	}
	return g.next.RoundTrip(r)
}

// CloseIdleConnections closes what is kept open for further requests.
func (g guarded) CloseIdleConnections() { g.next.CloseIdleConnections() }
