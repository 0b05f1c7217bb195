package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// example is a finished launch that other measures read.
type example struct{ state, id string }

// launches measures whole launches, from the command to the opened pull request.
func launches(ctx context.Context, l *lab) ([]row, error) {
	sdk, err := l.sdk(ctx)
	if err != nil {
		return nil, err
	}
	checkout, err := l.cloned(ctx, l.repo, "checkout")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, repo := range []struct{ what, dir string }{{"launch of the MCP Go SDK", sdk}, {"launch of this checkout", checkout}} {
		var took []float64
		for i := range min(3, l.rounds) {
			seconds, err := l.launch(ctx, repo.dir, filepath.Join(l.dir, fmt.Sprintf("launch-%s-%d", filepath.Base(repo.dir), i)))
			if err != nil {
				return nil, err
			}
			took = append(took, seconds)
		}
		rows = append(rows, plain(repo.what, median(took), "s"))
	}
	return rows, nil
}

// launch launches a repository and returns how many seconds that took.
func (l *lab) launch(ctx context.Context, repo, state string) (float64, error) {
	_, took, err := probe.Execute(ctx, l.dir, l.home, l.gantry, "launch", repo, "--state-dir", state)
	return took.Seconds(), err
}

// launched returns a finished launch, made once.
func (l *lab) launched(ctx context.Context) (*example, error) {
	if l.example != nil {
		return l.example, nil
	}
	repo, err := l.sdk(ctx)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(l.dir, "launched")
	if _, err := l.launch(ctx, repo, state); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(state, "runs"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			l.example = &example{state, e.Name()}
			return l.example, nil
		}
	}
	return nil, errors.New("the launch left no run")
}

// sdk returns a repository with the MCP Go SDK, from the module cache: it is there,
// since this module needs it.
func (l *lab) sdk(ctx context.Context) (string, error) {
	said, _, err := probe.Execute(ctx, l.repo, l.env, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(l.dir, "go-sdk")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(said)))); err != nil {
		return "", err
	}
	return dir, l.commit(ctx, dir, "the SDK")
}

// commit makes a folder a repository of one commit.
func (l *lab) commit(ctx context.Context, dir, message string) error {
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", message},
	} {
		if _, _, err := probe.Execute(ctx, dir, l.home, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// cloned returns a clone of a local repository.
func (l *lab) cloned(ctx context.Context, from, name string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(l.dir, name)
	_, _, err = probe.Execute(ctx, l.dir, l.env, "git", "clone", "-q", from, dir)
	return dir, err
}
