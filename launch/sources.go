package launch

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/dossier"
)

// sourcesFile keeps in the run's folder where its repositories are. It alone holds
// absolute paths and is no artifact.
const sourcesFile = "sources.json"

// Sources says where the repositories of a launch are.
type Sources struct {
	Repo  Source  `json:"repo"`
	Site  *Source `json:"site,omitempty"`  // nil: the embedded one
	Named bool    `json:"named,omitempty"` // the caller says what the product is called
}

// Source is a repository: an address for git, or a folder of this machine, which
// need not be a repository.
type Source struct {
	URL   string `json:"url"` // absolute path when local
	Local bool   `json:"local"`
	Shown string `json:"shown"`           // how documents name it: without userinfo and absolute paths
	Probe string `json:"probe,omitempty"` // a clone that is there already, to be moved
}

func readSources(dir string) (Sources, error) {
	var where Sources
	raw, err := os.ReadFile(filepath.Join(dir, sourcesFile))
	if err != nil {
		return where, err
	}
	return where, json.Unmarshal(raw, &where)
}

// locate finds the repositories of a configuration and replaces their addresses
// there by how they may be shown.
func (s *Service) locate(cfg *dossier.Config) (Sources, error) {
	repo, err := s.source(cfg.GithubRepoURL)
	if err != nil {
		return Sources{}, err
	}
	out := Sources{Repo: repo}
	cfg.GithubRepoURL = repo.Shown
	if err := git.CheckRef(cfg.GithubRef); cfg.GithubRef != "" && err != nil {
		return Sources{}, err
	}
	if cfg.SiteRepoURL == "" {
		return out, nil
	}
	site, err := s.source(cfg.SiteRepoURL)
	if err != nil {
		return Sources{}, err
	}
	if err := git.CheckRef(cfg.SiteRef); cfg.SiteRef != "" && err != nil {
		return Sources{}, err
	}
	out.Site, cfg.SiteRepoURL = &site, site.Shown
	return out, nil
}

// source tells an address from a path and checks either.
func (s *Service) source(raw string) (Source, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" || strings.ContainsRune(raw, 0) {
		return Source{}, fault.New(fault.InvalidInput, "a repository is a git URL or a path")
	}
	if !looksLikePath(raw) {
		if err := s.o.Git.CheckURL(raw, s.o.AnyPath); err != nil {
			return Source{}, err
		}
		return Source{URL: raw, Shown: git.Redact(raw)}, nil
	}
	path := raw
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.o.Root, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !isFolder(real) {
		if !s.under(filepath.Clean(path)) {
			return Source{}, outsideRoot()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Source{}, fault.New(fault.RepoNotFound, "the path %.80q cannot be followed", git.Redact(raw)).Because(err)
		}
		return Source{}, fault.New(fault.RepoNotFound, "there is no folder %.80q under the root", filepath.Base(raw))
	}
	if !s.under(real) {
		return Source{}, outsideRoot()
	}
	return Source{URL: real, Local: true, Shown: s.shown(real)}, nil
}

func outsideRoot() error {
	return fault.New(fault.PathEscape, "the path leads out of the project's root").
		WithHint("give a path under the root that the server was started with, or a git URL")
}

// shown names a local folder relative to the root, or by its base name.
func (s *Service) shown(path string) string {
	rel, err := filepath.Rel(s.o.Root, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}

// under reports whether a path may be used: any for a person, else those that are
// the root or below it.
func (s *Service) under(path string) bool {
	if s.o.AnyPath {
		return true
	}
	rel, err := filepath.Rel(s.o.Root, path)
	return err == nil && filepath.IsLocal(rel)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// looksLikePath tells a path from a URL and from git's short form host:path.
func looksLikePath(raw string) bool {
	if strings.Contains(raw, "://") || strings.Contains(raw, "::") {
		return false
	}
	colon := strings.IndexByte(raw, ':')
	slash := strings.IndexByte(raw, '/')
	return colon < 0 || slash >= 0 && slash < colon
}
