package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Init makes an empty repository in dir, which is made too if need be. Its first
// branch is main.
func (g *Git) Init(ctx context.Context, dir string) error { return g.init(ctx, dir, 40) }

// init makes a repository whose object names have digits digits.
func (g *Git) init(ctx context.Context, dir string, digits int) error {
	format := "sha1"
	if digits == 64 {
		format = "sha256"
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := g.run(ctx, in(dir, "init", "--quiet", "--template=", "--initial-branch=main", "--object-format="+format)); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700)
}

// IsRepo reports whether dir is the top folder of a work tree.
func (g *Git) IsRepo(ctx context.Context, dir string) (bool, error) {
	out, err := g.run(ctx, in(dir, "rev-parse", "--is-inside-work-tree", "--show-prefix"))
	var f *failure
	if errors.As(err, &f) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return out == "true\n\n", err
}

// IsBare reports whether dir is a repository without a work tree.
func (g *Git) IsBare(ctx context.Context, dir string) (bool, error) {
	out, err := g.run(ctx, in(dir, "--git-dir=.", "rev-parse", "--is-bare-repository"))
	var f *failure
	if errors.As(err, &f) || errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return out == "true\n", err
}

// Top returns the top folder of the work tree that dir is in, as git sees it. Outside of
// one it fails with REPO_NOT_FOUND.
func (g *Git) Top(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, in(dir, "rev-parse", "--path-format=absolute", "--show-toplevel"))
	if f := (*failure)(nil); errors.As(err, &f) || errors.Is(err, os.ErrNotExist) {
		return "", fault.New(fault.RepoNotFound, "the folder is not in a git repository").Because(err)
	}
	return strings.TrimSuffix(out, "\n"), err
}

// Main returns the top folder of the repository that dir is in: of its main work tree, or
// of the one that dir is in when there is no main one. Outside a work tree it fails with
// REPO_NOT_FOUND.
func (g *Git) Main(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, in(dir, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var f *failure
	if errors.As(err, &f) || errors.Is(err, os.ErrNotExist) || err == nil && len(lines) != 3 { // a name that holds a newline
		return "", fault.New(fault.RepoNotFound, "the folder is not in a git repository").Because(err)
	}
	if err != nil || lines[1] == lines[2] {
		return lines[0], err
	}
	trees, err := g.Worktrees(ctx, dir)
	if err != nil || len(trees) == 0 || trees[0].Bare {
		return lines[0], err
	}
	return trees[0].Path, nil
}

// Head returns the commit that is checked out in dir. Without a commit it fails with
// REPO_EMPTY, outside a repository with REPO_NOT_FOUND.
func (g *Git) Head(ctx context.Context, dir string) (Commit, error) {
	out, err := g.run(ctx, in(dir, "log", "-1", "--no-show-signature", "--no-color", "--format=%H %ct", "HEAD", "--"))
	var f *failure
	if errors.As(err, &f) {
		if f.says("not a git repository") {
			return Commit{}, fault.New(fault.RepoNotFound, "the folder is not a git repository").Because(f)
		}
		if f.says("bad revision", "unknown revision") {
			return Commit{}, fault.New(fault.RepoEmpty, "the repository has no commits").Because(f)
		}
	}
	if err != nil {
		return Commit{}, err
	}
	var commit Commit
	var seconds int64
	if _, err := fmt.Sscanf(out, "%s %d\n", &commit.SHA, &seconds); err != nil {
		return Commit{}, fmt.Errorf("git log printed %q: %w", out, err)
	}
	commit.When = time.Unix(seconds, 0).UTC()
	return commit, nil
}

// Resolve returns the commit that a branch, tag, HEAD or object name means in dir, or
// fails with REF_NOT_FOUND.
func (g *Git) Resolve(ctx context.Context, dir, revision string) (string, error) {
	if err := CheckRef(revision); err != nil {
		return "", err
	}
	return g.commitOf(ctx, dir, revision)
}

// MergeBase returns the best common ancestor of two revisions, or fails with
// REF_NOT_FOUND when there is none.
func (g *Git) MergeBase(ctx context.Context, dir, a, b string) (string, error) {
	if err := checkRevision(a, b); err != nil {
		return "", err
	}
	out, err := g.run(ctx, in(dir, "merge-base", "--end-of-options", a, b))
	var f *failure
	if errors.As(err, &f) {
		return "", fault.New(fault.RefNotFound, "%s and %s have no common commit", a, b).Because(f)
	}
	return strings.TrimSpace(out), err
}

// Branch returns the name of the branch that is checked out, empty when detached.
func (g *Git) Branch(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, in(dir, "symbolic-ref", "--quiet", "--short", "HEAD"))
	var f *failure
	if errors.As(err, &f) && f.exit == 1 {
		return "", nil
	}
	return strings.TrimSpace(out), err
}

// Checkout makes the branch point at start and checks it out; a branch of that name
// that exists is moved. An empty start means HEAD. Local changes are carried along,
// or the call fails.
func (g *Git) Checkout(ctx context.Context, dir, branch, start string) error {
	if start == "" {
		start = "HEAD"
	}
	if err := checkRevision(branch, start); err != nil {
		return err
	}
	_, err := g.runTree(ctx, in(dir, "checkout", "--quiet", "--no-track", "-B", branch, start, "--"))
	return err
}

// CreateBranch makes a branch that points at start, HEAD when empty, without checking
// it out. It fails when the branch exists.
func (g *Git) CreateBranch(ctx context.Context, dir, branch, start string) error {
	if start == "" {
		start = "HEAD"
	}
	if err := checkRevision(branch, start); err != nil {
		return err
	}
	_, err := g.run(ctx, in(dir, "branch", "--no-track", "--end-of-options", branch, start))
	return err
}

// Remote is a remote repository as configured.
type Remote struct {
	Name string
	URL  string // without user name and password of an http URL; insteadOf not applied
}

// Remotes returns the remotes of dir by name.
func (g *Git) Remotes(ctx context.Context, dir string) ([]Remote, error) {
	out, err := g.run(ctx, in(dir, "config", "--null", "--get-regexp", `^remote\..*\.url$`))
	var f *failure
	if errors.As(err, &f) && f.exit == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, url, _ := strings.Cut(entry, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if _, ok := urls[name]; !ok { // git fetches from the first
			urls[name] = userinfoOfHTTP.ReplaceAllString(url, "$1")
		}
	}
	var remotes []Remote
	for name, url := range urls {
		remotes = append(remotes, Remote{Name: name, URL: url})
	}
	slices.SortFunc(remotes, func(a, b Remote) int { return strings.Compare(a.Name, b.Name) })
	return remotes, nil
}

// RemoteURL returns the URL of a remote, empty when there is no such remote.
func (g *Git) RemoteURL(ctx context.Context, dir, name string) (string, error) {
	remotes, err := g.Remotes(ctx, dir)
	for _, r := range remotes {
		if r.Name == name {
			return r.URL, nil
		}
	}
	return "", err
}

// File is a file of a commit.
type File struct {
	Path string // from the top of the repository, with slashes
	Mode string // 100644, 100755 (executable), 120000 (symlink), 160000 (submodule)
	SHA  string // of the content
	Size int64  // in bytes, 0 for a submodule
}

// ListFiles returns the files of a revision, HEAD when empty, by path.
func (g *Git) ListFiles(ctx context.Context, dir, revision string) ([]File, error) {
	if revision == "" {
		revision = "HEAD"
	}
	commit, err := g.Resolve(ctx, dir, revision)
	if err != nil {
		return nil, err
	}
	out, err := g.run(ctx, in(dir, "ls-tree", "-r", "-l", "-z", "--full-tree", commit))
	if err != nil {
		return nil, err
	}
	var files []File
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		info, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(info) // mode type name size
		if len(fields) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64) // a dash for a submodule
		files = append(files, File{Path: path, Mode: fields[0], SHA: fields[2], Size: size})
	}
	return files, nil
}

// ResolveBranch returns the commit that a branch of dir is at: a local one of the name, or
// else that of origin. Without either it fails with REF_NOT_FOUND.
func (g *Git) ResolveBranch(ctx context.Context, dir, branch string) (string, error) {
	if err := CheckRef(branch); err != nil {
		return "", err
	}
	sha, err := g.commitOf(ctx, dir, "refs/heads/"+branch)
	if fault.Is(err, fault.RefNotFound) {
		sha, err = g.commitOf(ctx, dir, "refs/remotes/origin/"+branch)
	}
	return sha, err
}
