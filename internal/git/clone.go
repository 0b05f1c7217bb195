package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Commit is a commit and when it was made, by its committer.
type Commit struct {
	SHA  string
	When time.Time // UTC, whole seconds
}

// CloneOptions says what to clone.
type CloneOptions struct {
	Ref        string // branch, tag or complete object name; the remote's HEAD when empty
	Depth      int    // commits of history, all when 0
	AllowLocal bool   // the URL may be a path, a file URL or this machine
}

// attributes of a clone: files stand in the work tree exactly as they are in the
// commit, and diff as what they are, whatever .gitattributes and autocrlf say.
const attributes = "* -filter -text -ident -working-tree-encoding !eol !diff !merge\n"

// Clone fetches the commit that the ref means into dir, which must not exist or be
// empty, and checks it out, detached. The remote is called origin. When it fails,
// what it made is removed.
//
// Faults: URL_NOT_ALLOWED, INVALID_INPUT (the ref), REPO_NOT_FOUND, REF_NOT_FOUND,
// REPO_EMPTY, and REPO_SCOUT_CLONE_FAILED, retryable when the network is to blame.
func (g *Git) Clone(ctx context.Context, url, dir string, o CloneOptions) (Commit, error) {
	url = absolute(url)
	name, sha, err := g.resolve(ctx, url, o.Ref, o.AllowLocal)
	if err != nil {
		return Commit{}, err
	}
	entries, err := os.ReadDir(dir)
	if len(entries) > 0 {
		return Commit{}, fault.New(fault.InvalidInput, "the folder to clone into is not empty")
	}
	made := errors.Is(err, os.ErrNotExist)
	commit, err := g.cloneInto(ctx, url, dir, name, sha, o.Depth)
	if err != nil {
		cleanUp(dir, made)
		return Commit{}, err
	}
	return commit, nil
}

// cleanUp removes the folder, or what is in it when it was there before.
func cleanUp(dir string, made bool) {
	if made {
		os.RemoveAll(dir)
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		os.RemoveAll(filepath.Join(dir, entry.Name()))
	}
}

// absolute makes a path absolute and leaves a URL as it is.
func absolute(url string) string {
	if url == "" || strings.Contains(url, ":") || strings.HasPrefix(url, "-") {
		return url
	}
	if path, err := filepath.Abs(url); err == nil {
		return path
	}
	return url
}

func (g *Git) cloneInto(ctx context.Context, url, dir, name, sha string, depth int) (Commit, error) {
	if err := g.init(ctx, dir, len(sha)); err != nil {
		return Commit{}, err
	}
	if _, err := g.run(ctx, in(dir, "remote", "add", "--", "origin", url)); err != nil {
		return Commit{}, err
	}
	found, err := g.fetch(ctx, dir, name, sha, depth)
	if err != nil {
		return Commit{}, remoteFault(err, Redact(url))
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "attributes"), []byte(attributes), 0o600); err != nil {
		return Commit{}, err
	}
	if _, err := g.runTree(ctx, in(dir, "checkout", "--quiet", "--detach", found, "--")); err != nil {
		return Commit{}, remoteFault(err, Redact(url))
	}
	return g.Head(ctx, dir)
}

// fetch gets the ref called name, or the object sha when name is empty, and returns
// the commit. A server need not give an object by its name: then everything is
// fetched that it shows.
func (g *Git) fetch(ctx context.Context, dir, name, sha string, depth int) (string, error) {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules"}
	shallow := args
	if depth > 0 {
		shallow = append(args[:len(args):len(args)], "--depth="+strconv.Itoa(depth))
	}
	if name != "" {
		if _, err := g.run(ctx, in(dir, append(shallow, "--", "origin", name)...)); err != nil {
			return "", err
		}
		return g.commitOf(ctx, dir, "FETCH_HEAD")
	}
	_, err := g.run(ctx, in(dir, append(shallow, "--", "origin", sha)...))
	var f *failure
	if errors.As(err, &f) && f.noRef() {
		_, err = g.run(ctx, in(dir, append(args, "--", "origin", "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")...))
	}
	if err != nil {
		return "", err
	}
	return g.commitOf(ctx, dir, sha)
}

// commitOf returns the commit that a revision means, or REF_NOT_FOUND.
func (g *Git) commitOf(ctx context.Context, dir, revision string) (string, error) {
	out, err := g.run(ctx, in(dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"))
	var f *failure
	if errors.As(err, &f) {
		return "", fault.New(fault.RefNotFound, "there is no commit %s", revision).Because(err)
	}
	return strings.TrimSpace(out), err
}

// ResolveRemote returns the object name of the commit that a ref means in a remote
// repository; a complete object name is returned as it is, unverified. A branch goes
// before a tag of the same name. The faults are those of [Git.Clone].
func (g *Git) ResolveRemote(ctx context.Context, url, ref string, allowLocal bool) (string, error) {
	_, sha, err := g.resolve(ctx, absolute(url), ref, allowLocal)
	return sha, err
}

// resolve returns the full name of the ref, empty for an object name, and the commit.
func (g *Git) resolve(ctx context.Context, url, ref string, local bool) (name, sha string, err error) {
	if err := g.CheckURL(url, local); err != nil {
		return "", "", err
	}
	if IsSHA(ref) {
		return "", ref, nil
	}
	names := []string{"HEAD"}
	if ref != "" {
		if err := CheckRef(ref); err != nil {
			return "", "", err
		}
		names = []string{"refs/heads/" + ref, "refs/tags/" + ref}
		if strings.HasPrefix(ref, "refs/") {
			names = []string{ref}
		}
	}
	refs, err := g.remoteRefs(ctx, url, names...)
	if err != nil {
		return "", "", err
	}
	for _, name := range names {
		if sha := refs[name+"^{}"]; sha != "" { // what an annotated tag stands for
			return name, sha, nil
		}
		if sha := refs[name]; sha != "" {
			return name, sha, nil
		}
	}
	return "", "", g.absent(ctx, url, ref)
}

// absent says why a ref was not found: the repository may have none at all.
func (g *Git) absent(ctx context.Context, url, ref string) error {
	refs, err := g.remoteRefs(ctx, url, "refs/heads/*", "refs/tags/*")
	if err != nil {
		return err
	}
	switch {
	case len(refs) == 0:
		return fault.New(fault.RepoEmpty, "%s has no commits", Redact(url)).
			WithHint("Commit a README, a package manifest or source and resume the run, or choose another repository.")
	case ref == "":
		return fault.New(fault.RefNotFound, "%s has no default branch", Redact(url)).WithHint("name a branch, a tag or a commit")
	}
	return fault.New(fault.RefNotFound, "%s has no branch or tag %s", Redact(url), ref)
}

// remoteRefs returns the refs of a remote that match the patterns, by full name.
func (g *Git) remoteRefs(ctx context.Context, url string, patterns ...string) (map[string]string, error) {
	args := []string{"ls-remote", "--quiet", "--", url}
	for _, p := range patterns {
		args = append(args, p)
		if strings.HasPrefix(p, "refs/tags/") && !strings.Contains(p, "*") {
			args = append(args, p+"^{}")
		}
	}
	// The root is in no repository, whose configuration would count.
	out, err := g.run(ctx, in(string(filepath.Separator), args...))
	if err != nil {
		return nil, remoteFault(err, Redact(url))
	}
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		if sha, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			refs[name] = sha
		}
	}
	return refs, nil
}
