package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The MCP Inspector's command line meets the server over HTTP in both eras, and finds nothing
// in the schemas that a client might not take.
func TestTheInspectorMeetsEveryPathInBothEras(t *testing.T) {
	inspector, err := exec.LookPath("mcp-inspector")
	if err != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("mcp-inspector is not in PATH; .ci/run installs it")
		}
		t.Skip("the MCP Inspector is not installed: npm i -g @modelcontextprotocol/inspector, with Node 22 or newer")
	}
	t.Parallel()
	h := newWorld(t).serveHTTP()
	for era, path := range map[string]string{"legacy": "/mcp", "modern": "/mcp/x/tasks"} {
		ask := func(into any, words ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), inspector, append([]string{
				"--cli", "http://" + h.addr + path, "--transport", "http", "--header", "Authorization: Bearer " + tokenOfAnn, "--protocol-era", era,
			}, words...)...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err == nil {
				err = json.Unmarshal(out, into)
			}
			if err != nil {
				t.Errorf("%s %s %v: %v\n%s\n%.2000s", era, path, words, err, out, said.String())
			}
		}
		var list struct {
			Tools []struct{ Name string }
		}
		if ask(&list, "--method", "tools/list", "--strict"); len(list.Tools) == 0 {
			t.Errorf("%s: no tools", path)
		}
		tool := map[string]string{"/mcp": "launch_list_runs", "/mcp/x/tasks": "list_tasks"}[path]
		var result struct {
			IsError    bool           `json:"isError"`
			Structured map[string]any `json:"structuredContent"`
		}
		if ask(&result, "--method", "tools/call", "--tool-name", tool); result.IsError || result.Structured == nil {
			t.Errorf("%s: %+v", tool, result)
		}
	}
}

// anyServer are the scenarios of the conformance suite that want nothing of a server but the
// protocol; the others are run against a fixture, in internal/mcpconformance.
var anyServer = map[string][]string{
	"2025-11-25": {"server-initialize", "server-session-lifecycle", "ping", "tools-list", "dns-rebinding-protection"},
	"2026-07-28": {"tools-list", "dns-rebinding-protection", "caching", "http-header-validation", "sep-2164-resource-not-found"},
}

// The shipped server passes every scenario that any server can run. The suite shows no tokens;
// a proxy does that for it.
func TestTheShippedServerPassesTheConformanceSuite(t *testing.T) {
	modules := os.Getenv("GANTRY_CONFORMANCE")
	script := filepath.Join(modules, "conformance-next", "dist", "index.js")
	if _, err := os.Stat(script); modules == "" || err != nil {
		if os.Getenv("GANTRY_CI") != "" {
			t.Fatal("GANTRY_CONFORMANCE names no folder with the conformance suite; .ci/run installs it")
		}
		t.Skip("the conformance suite is not installed: see .ci/run, and set GANTRY_CONFORMANCE to its node_modules")
	}
	t.Parallel()
	var target url.URL
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+tokenOfAnn)
	}})
	defer proxy.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(proxy.URL, "http://"), ":")
	h := newWorld(t).serveHTTP("--rate-limit", "0", "--allowed-hosts", "127.0.0.1:"+port+",localhost:"+port)
	target = url.URL{Scheme: "http", Host: h.addr}
	for revision, scenarios := range anyServer {
		for _, scenario := range scenarios {
			path := "/mcp"
			if scenario == "http-header-validation" {
				path = "/mcp/x/tasks" // its first tool can be called without arguments
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "node"), script,
				"server", "--url", "http://localhost:"+port+path, "--scenario", scenario, "--spec-version", revision)
			cmd.Dir = t.TempDir()
			var exit *exec.ExitError
			if out, err := cmd.CombinedOutput(); errors.As(err, &exit) {
				t.Errorf("%s, %s:\n%s", revision, scenario, out)
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
