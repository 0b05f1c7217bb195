package gatestest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// webName stands in archives for the address of the test's own server.
const webName = "http://web.test"

// serve starts a server that answers /ok, refuses HEAD at /get-only, leads from
// /moved to /ok and from /away to a host that may not be asked, never answers
// at /slow, and has nothing else.
func serve(t testing.TB) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/get-only", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	mux.Handle("/moved", http.RedirectHandler("/ok", http.StatusMovedPermanently))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler("http://elsewhere.test/", http.StatusFound))
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// reach allows the test's own server and nothing else.
func (c Case) reach(address string) error {
	if c.Web == "" || !strings.HasPrefix(address, c.Web+"/") {
		return errors.New("the host is not listed")
	}
	return nil
}
