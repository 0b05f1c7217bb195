package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/mcpserver/worktreetools"
	"github.com/gantry-run/gantry/targets/jobs"
	"github.com/gantry-run/gantry/worktree"
)

// worktreeTable is the table [worktree]: settings of the toolset of that name.
type worktreeTable struct {
	AllowSecrets bool `toml:"allow_secrets" flag:"worktree-allow-secrets" help:"let read_file read files that look as if they held secrets: .env, *.pem, id_*, .npmrc, .netrc"`
	Serve        bool `toml:"serve" flag:"worktrees" help:"gantry serve: serve every git worktree of the root's repository on a port of its own, on loopback"`
	Port         int  `toml:"port" flag:"worktree-port" default:"3000" help:"first port of the worktrees' servers; one that is taken is passed over"`
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
	t, err := a.treeAt(a.cfg.Root, a.jobs)
	if err == nil {
		a.closers = append(a.closers, func() error { t.Close(); return nil })
	}
	return t, err
}

// treeAt opens the files of a folder, whose tasks are those of the service.
func (a *app) treeAt(root string, tasks *jobs.Service) (*worktree.Tree, error) {
	return worktree.Open(root, worktree.Options{
		Env: a.env, Git: a.git, Jobs: tasks, AllowSecrets: a.cfg.Worktree.AllowSecrets, DockerSocket: dockerSocket(a.env),
	})
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
