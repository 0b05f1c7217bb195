package crashtest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The programs under test, built once: gantry, and git as gantry finds it.
var gantry, gitFolder string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "crashtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gantry, gitFolder = filepath.Join(dir, "gantry"), filepath.Join(dir, "path")
	for _, b := range []struct{ out, pkg string }{
		{gantry, "github.com/gantry-run/gantry/cmd/gantry"},
		{filepath.Join(gitFolder, "git"), "./testdata/gitlog"},
	} {
		cmd := exec.Command("go", "build", "-o", b.out, b.pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", b.pkg, err, out)
			return 1
		}
	}
	// A Hugo that takes no time: what is tested is a kill of Gantry, not a build.
	if err := os.WriteFile(filepath.Join(gitFolder, "hugo"), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
