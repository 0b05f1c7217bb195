package egress

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

func TestOnlyListedHostsAreReached(t *testing.T) {
	t.Parallel()
	p := New([]string{"api.example.com", "Forge.example.com:8443", "*.corp.example", "127.0.0.1"}, nil)
	for address, allowed := range map[string]bool{
		"https://api.example.com/v1":         true,
		"https://API.EXAMPLE.COM:444/v1":     true, // a bare host is each of its ports
		"https://forge.example.com:8443":     true,
		"https://forge.example.com":          false,
		"https://forge.example.com:443":      false,
		"https://a.b.corp.example":           true,
		"https://corp.example":               false, // not the domain itself
		"https://evilcorp.example":           false,
		"https://api.example.com.evil.test":  false,
		"https://api.example.com@evil.test":  false,
		"https://user:pass@api.example.com/": false,
		"http://api.example.com/v1":          false, // not over TLS
		"http://127.0.0.1:9999/x":            true,
		"ftp://api.example.com/":             false,
		"/etc/passwd":                        false,
		"":                                   false,
	} {
		if err := p.Check(address); (err == nil) != allowed || err != nil && !fault.Is(err, fault.NetworkBlocked) {
			t.Errorf("%s: %v, allowed is %t", address, err, allowed)
		}
	}
	if err := (*Policy)(nil).Check("https://api.example.com"); !fault.Is(err, fault.NetworkBlocked) {
		t.Errorf("no policy allows a host: %v", err)
	}
}

func TestOnlyListedVariablesAreSecrets(t *testing.T) {
	t.Parallel()
	p := New(nil, map[string]string{"FORGE_TOKEN": "value", "UNSET_TOKEN": ""})
	if v, err := p.Secret("FORGE_TOKEN"); v != "value" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if _, err := p.Secret("UNSET_TOKEN"); !fault.Is(err, fault.ConfigInvalid) {
		t.Errorf("not set: %v", err)
	}
	for _, p := range []*Policy{p, nil} {
		if _, err := p.Secret("HOME"); !fault.Is(err, fault.NetworkBlocked) {
			t.Errorf("not listed: %v", err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	c := New([]string{"127.0.0.1"}, nil).Client(time.Minute)
	defer c.CloseIdleConnections()
	r, err := c.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusTemporaryRedirect || elsewhere != 0 {
		t.Errorf("%s, and %d requests came elsewhere", r.Status, elsewhere)
	}
}

func TestAClientReachesNoOtherHost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c := New([]string{"api.example.com"}, nil).Client(time.Minute)
	defer c.CloseIdleConnections()
	r, err := c.Post(server.URL, "text/plain", strings.NewReader("token"))
	if err == nil {
		r.Body.Close()
	}
	if !fault.Is(err, fault.NetworkBlocked) {
		t.Errorf("%v", err)
	}
}
