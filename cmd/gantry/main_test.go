package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gantry-run/gantry/internal/agenttest"
)

// The tests of this package use the program as people and agents do: the binary
// that ships, over its standard streams. harness_test.go starts it and speaks
// JSON-RPC to it without any library, fixture_test.go makes what it works on,
// testdata/script holds what is typed at a terminal.

var update = flag.Bool("update", false, "write the generated documents")

// binary is the built program. TestMain sets it before any test begins.
var binary string

func TestMain(m *testing.M) {
	agenttest.Main()
	flag.Parse()
	if *update {
		flag.Set("test.run", "^TestConfigurationDocument") // nothing else is generated here
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gantry-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "gantry")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=1.2.3-test", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
