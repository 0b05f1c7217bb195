package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// The repository in which contexts are measured: 50,000 files.
const (
	bigFolders = 50
	bigInner   = 50
	bigFiles   = 20
)

// promised of a context, in milliseconds.
const (
	coldLimit = 300
	warmLimit = 20
)

// bigRepository makes the repository, with two files changed.
func (l *lab) bigRepository(ctx context.Context) (string, error) {
	root, err := l.folder("fifty-thousand")
	if err != nil {
		return "", err
	}
	for a := range bigFolders {
		for b := range bigInner {
			dir := filepath.Join(root, fmt.Sprintf("pkg%02d/mod%02d", a, b))
			err = errors.Join(err, os.MkdirAll(dir, 0o755))
			for c := range bigFiles {
				text := fmt.Sprintf("package mod\n\nconst X%d = %d\n", c, (a*bigInner+b)*bigFiles+c)
				err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d.go", c)), []byte(text), 0o644))
			}
		}
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("node_modules/\n*.log\n"), 0o644))
	for _, words := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all"}} {
		if err == nil {
			_, _, err = probe.Execute(ctx, root, l.home, "git", words...)
		}
	}
	return root, errors.Join(err,
		os.WriteFile(filepath.Join(root, "pkg00/mod00/file00.go"), []byte("package mod // changed\n"), 0o644),
		os.WriteFile(filepath.Join(root, "pkg01/new.txt"), []byte("new\n"), 0o644))
}

func (l *lab) serveTree(ctx context.Context, root string) (*probe.Client, error) {
	state, err := l.folder("tree-state")
	if err != nil {
		return nil, err
	}
	return l.start(ctx, l.gantry, "mcp", "--toolsets", "worktree", "--rate-limit", "0", "--no-worker", "--root", root, "--state-dir", state)
}

// contexts measures get_project_context: the first of a server, one after a change, and
// those after which nothing has changed.
func contexts(ctx context.Context, l *lab) ([]row, error) {
	root, err := l.bigRepository(ctx)
	if err != nil {
		return nil, err
	}
	var cold, changed, warm, status []float64
	for round := range l.rounds {
		_, took, err := probe.Execute(ctx, root, append(l.home, "GIT_OPTIONAL_LOCKS=0"), "git", "status", "--porcelain=v2", "--untracked-files=all")
		if err != nil {
			return nil, err
		}
		status = append(status, probe.Milliseconds(took))
		c, err := l.serveTree(ctx, root)
		if err != nil {
			return nil, err
		}
		first, err := timed(ctx, c, "get_project_context", `{}`)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, "pkg02/mod02/file02.go"), fmt.Appendf(nil, "package mod // %d\n", round), 0o644)
		}
		second, failed := timed(ctx, c, "get_project_context", `{}`)
		if err = errors.Join(err, failed); err == nil {
			var q *probe.Quantiles
			q, err = quantiles(ctx, c, probe.Load{Tool: "get_project_context", Args: json.RawMessage(`{}`), Calls: 100, InFlight: 1, Warmup: 5, Timeout: 10 * time.Second})
			if err == nil {
				warm = append(warm, q.P50/1000)
			}
		}
		c.Close()
		if err != nil {
			return nil, err
		}
		cold, changed = append(cold, first), append(changed, second)
	}
	what := fmt.Sprintf("get_project_context, %d files, ", bigFolders*bigInner*bigFiles)
	return []row{
		compared(what+"first call of a server, p50, beside git status", cold, status, "ms", 0).targeting(median(cold), "ms", coldLimit),
		atMost(what+"after a file has changed, p50", median(changed), "ms", coldLimit),
		atMost(what+"nothing has changed, p50", median(warm), "ms", warmLimit),
	}, nil
}

// timed returns the milliseconds of a call that has to succeed.
func timed(ctx context.Context, c *probe.Client, tool, args string) (float64, error) {
	began := time.Now()
	if a := c.Call(ctx, tool, json.RawMessage(args), false); a.Outcome != probe.OK {
		return 0, fmt.Errorf("%s: %s", tool, a.Text)
	}
	return probe.Milliseconds(time.Since(began)), nil
}

// filesystemServer returns the argv of the official filesystem server for a folder, which
// npm installs for now.
func (l *lab) filesystemServer(ctx context.Context, root string) ([]string, error) {
	dir, err := l.folder("npm")
	if err == nil {
		_, _, err = probe.Execute(ctx, dir, l.env, "npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", dir, "@modelcontextprotocol/server-filesystem")
	}
	return []string{filepath.Join(dir, "node_modules", ".bin", "mcp-server-filesystem"), root}, err
}

// readFiles measures read_file beside the official filesystem server, in one run.
func readFiles(ctx context.Context, l *lab) ([]row, error) {
	root, err := l.folder("readfile")
	if err != nil {
		return nil, err
	}
	sizes := []int{1 << 10, 48 << 10}
	for _, size := range sizes {
		text := strings.Repeat("a line of some length, as there are in source files\n", size/52+1)[:size]
		err = errors.Join(err, os.WriteFile(filepath.Join(root, fmt.Sprintf("%d.txt", size)), []byte(text), 0o644))
	}
	argv, missing := l.filesystemServer(ctx, root)
	if missing != nil {
		fmt.Fprintln(l.say, "readfile is skipped: the official filesystem server cannot be had:", missing)
		return nil, err
	}
	ours, err := l.serveTree(ctx, root)
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	theirs, err := l.start(ctx, argv...)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	var rows []row
	for _, size := range sizes {
		for _, inFlight := range []int{1, 8} {
			p50, beside, err := l.readBoth(ctx, ours, theirs, filepath.Join(root, fmt.Sprintf("%d.txt", size)), inFlight)
			if err != nil {
				return nil, err
			}
			what := fmt.Sprintf("read_file of %d KB, %d in flight, p50, beside the official filesystem server", size>>10, inFlight)
			rows = append(rows, compared(what, p50, beside, "µs", 1).untargeted())
		}
	}
	return rows, nil
}

// readBoth reads a file through both servers in turns.
func (l *lab) readBoth(ctx context.Context, ours, theirs *probe.Client, file string, inFlight int) (p50, beside []float64, err error) {
	args, err := json.Marshal(map[string]string{"path": file})
	if err != nil {
		return nil, nil, err
	}
	for range l.rounds {
		for _, side := range []struct {
			c    *probe.Client
			tool string
			into *[]float64
		}{{theirs, "read_text_file", &beside}, {ours, "read_file", &p50}} {
			q, err := quantiles(ctx, side.c, probe.Load{Tool: side.tool, Args: args, Calls: 500, InFlight: inFlight, Warmup: 50, Timeout: 10 * time.Second})
			if err != nil {
				return nil, nil, err
			}
			*side.into = append(*side.into, q.P50)
		}
	}
	return p50, beside, nil
}
