package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/mcpserver/worktreetools"
	"github.com/gantry-run/gantry/worktree"
)

// worktreeTable is the table [worktree]: settings of the toolset of that name.
type worktreeTable struct {
	AllowSecrets bool `toml:"allow_secrets" flag:"worktree-allow-secrets" help:"let read_file read files that look as if they held secrets: .env, *.pem, id_*, .npmrc, .netrc"`
}

func (a *app) worktreeTools() ([]tool.Tool, error) {
	tree, err := a.tree()
	if err != nil {
		return nil, err
	}
	return worktreetools.Tools(worktreetools.Deps{Tree: tree})
}

// openTree opens the files of the root.
func (a *app) openTree() (*worktree.Tree, error) {
	t, err := worktree.Open(a.cfg.Root, worktree.Options{
		Env: a.env, Git: a.git, Jobs: a.jobs, AllowSecrets: a.cfg.Worktree.AllowSecrets, DockerSocket: dockerSocket(a.env),
	})
	if err == nil {
		a.closers = append(a.closers, func() error { t.Close(); return nil })
	}
	return t, err
}

// dockerSocket returns the socket of the docker daemon of this machine, "" when there is
// none.
func dockerSocket(env []string) string {
	host := proc.Getenv(env, "DOCKER_HOST")
	if path, local := strings.CutPrefix(host, "unix://"); local {
		return path
	}
	if host != "" {
		return "" // it is elsewhere
	}
	for _, path := range []string{"/var/run/docker.sock", filepath.Join(proc.Getenv(env, "HOME"), ".docker/run/docker.sock")} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return path
		}
	}
	return ""
}
