package mcpconformance

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gantry-run/gantry/mcpserver"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/httpfront"
	"github.com/gantry-run/gantry/mcpserver/tokens"
	"github.com/gantry-run/gantry/telemetry"
)

// suite returns the program of a version of the suite, by the folder that GANTRY_CONFORMANCE
// names: node_modules with conformance-next and conformance-stable in it.
func suite(t *testing.T, version string) (node, script string) {
	t.Helper()
	dir := os.Getenv("GANTRY_CONFORMANCE")
	script = filepath.Join(dir, version, "dist", "index.js")
	node, err := exec.LookPath(filepath.Join(dir, ".bin", "node"))
	if _, missing := os.Stat(script); dir == "" || err != nil || missing != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("GANTRY_CONFORMANCE names no folder with the conformance suite; .ci/run installs it")
		}
		t.Skip("the conformance suite is not installed: see .ci/run, and set GANTRY_CONFORMANCE to its node_modules")
	}
	return node, script
}

// serveFixture serves the fixture as gantry serve does and returns its URL.
func serveFixture(t *testing.T) string {
	t.Helper()
	tel, err := telemetry.Open(t.Context(), telemetry.Options{Tools: map[string][]string{}})
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(guard.Options{Telemetry: tel, Redactor: telemetry.NewRedactor(nil)})
	known, err := tokens.Open(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	front := httpfront.New(httpfront.Options{Tokens: known, Hosts: []string{"127.0.0.1:" + port, "localhost:" + port}})
	fixture := newFixture(g)
	path := mcpserver.NewHTTP(fixture, mcpserver.HTTPOptions{})
	srv := &http.Server{Handler: front.Wrap(path, ""), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(httpfront.Listen(l)) }()
	ctx, stop := context.WithCancel(context.Background())
	go func() { // the watched resource changes now and then
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = fixture.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		over, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		path.Shutdown(over)
		_ = srv.Close()
		<-served
		_ = tel.Shutdown(over)
	})
	return "http://localhost:" + port + "/mcp"
}

// The whole suite, with what a revision requires and what it does not score, in each revision
// and in the stable version of the suite.
func TestTheConformanceSuitePasses(t *testing.T) {
	for _, c := range []struct {
		name, version, expected string
		args                    []string
	}{
		{"2025-11-25", "conformance-next", "expected-2025-11-25.yml", []string{"--requirements", "2025-11-25"}},
		{"2026-07-28", "conformance-next", "expected-2026-07-28.yml", []string{"--requirements", "2026-07-28"}},
		{"stable", "conformance-stable", "expected-stable.yml", []string{"--suite", "all"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			node, script := suite(t, c.version)
			expected, err := filepath.Abs(filepath.Join("testdata", c.expected))
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{script, "server", "--url", serveFixture(t), "--expected-failures", expected}, c.args...)
			cmd := exec.CommandContext(t.Context(), node, args...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}
