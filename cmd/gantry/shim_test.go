package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheBinaryIsAShimBeforeItIsAnythingElse starts the hidden command as a
// supervisor does, in an environment in which no server could start.
func TestTheBinaryIsAShimBeforeItIsAnythingElse(t *testing.T) {
	dir := t.TempDir()
	lock, err := os.Create(filepath.Join(dir, "shim.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	request, err := json.Marshal(map[string]any{
		"key": "k", "token": "t", "env": []string{"PATH=/usr/bin:/bin"},
		"spec": map[string]any{
			"name": "sh", "args": []string{"-c", `grep RssAnon /proc/$PPID/status; exit 3`}, "dir": "/", "keep": true,
			"output": map[string]int{"bytes": 1 << 20, "lines": 100},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "__shim", dir)
	cmd.Env, cmd.Stdin, cmd.ExtraFiles = []string{}, strings.NewReader(string(request)), []*os.File{lock}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(stdout); err != nil || len(said) > 0 {
		t.Errorf("stdout: %q, %v", said, err)
	}
	if err := cmd.Wait(); err != nil || complaints.Len() > 0 {
		t.Errorf("%v: %s", err, complaints.String())
	}
	var status struct {
		State string
		Exit  int
	}
	b, err := os.ReadFile(filepath.Join(dir, "status.json"))
	if err == nil {
		err = json.Unmarshal(b, &status)
	}
	if err != nil || status.State != "exited" || status.Exit != 3 {
		t.Errorf("%s, %v", b, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "output", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	out, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a shim's own memory: %s", strings.Join(strings.Fields(string(out)), " "))
}
