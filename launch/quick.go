package launch

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/launch/inventory"
	"github.com/gantry-run/gantry/launch/quickstart"
)

// profiles returns the sites that are known: those that ship, and those of the
// configuration. Two that claim the same host are CONFIG_INVALID.
func (s *Service) profiles() ([]quickstart.Profile, error) {
	shipped, err := quickstart.Profiles(s.o.Specs)
	if err != nil {
		return nil, err
	}
	all := append(shipped, s.o.Sites...)
	return all, quickstart.CheckProfiles(all)
}

// FromProductURL starts a launch of the product that a page is about. The site
// profiles say which repository that is. A page of an unknown site is
// UNSUPPORTED_SITE, an address that fits no profile's paths INVALID_URL.
func (s *Service) FromProductURL(ctx context.Context, a Ask, url string) (Started, quickstart.DerivedFromProduct, error) {
	profiles, err := s.profiles()
	if err != nil {
		return Started{}, quickstart.DerivedFromProduct{}, err
	}
	p, err := quickstart.ParseProductURL(url, profiles)
	if err != nil {
		return Started{}, quickstart.DerivedFromProduct{}, err
	}
	r, err := s.quick(ctx, a, p.RunConfig(), quick{derived: p.Derived()})
	return r, p.Derived(), err
}

// FromGitHub starts a launch of a repository of which nothing else is known: it is
// fetched, shallowly, and what a launch needs is inferred from it. If that is too
// unsure, the fault is INVALID_INPUT with what is missing and what is suggested,
// and no run is started. tell reports progress.
func (s *Service) FromGitHub(ctx context.Context, a Ask, url string, tell func(string, ...any)) (Started, quickstart.DerivedFromRepository, error) {
	none := quickstart.DerivedFromRepository{}
	profiles, err := s.profiles()
	if err != nil {
		return Started{}, none, err
	}
	_, _, address, err := quickstart.ParseGitHubURL(url)
	if err != nil {
		return Started{}, none, err
	}
	probe, err := s.o.Store.Scratch()
	if err != nil {
		return Started{}, none, err
	}
	defer os.RemoveAll(probe) // a run that was started has moved it away, or clones anew
	tell("fetching %s", address)
	dir := filepath.Join(probe, "repo")
	head, err := s.o.Git.Clone(ctx, address, dir, git.CloneOptions{Depth: 1})
	if err != nil {
		return Started{}, none, err
	}
	tell("reading the repository")
	inv, err := inventory.Scan(ctx, dir, inventory.Options{RepoURL: address, RepoSHA: head.SHA})
	if err != nil {
		return Started{}, none, err
	}
	inferred := quickstart.Infer(quickstart.SeenIn(address, inv, readme(dir, inv.DocEntrypoints)), profiles)
	if f := inferred.Fault(); f != nil {
		return Started{}, none, f
	}
	tell("starting the run")
	cfg := inferred.RunConfig()
	if cfg.ProductName == quickstart.NameFromURL(address) {
		cfg.ProductName = "" // nobody named the product, so its documents do
	}
	r, err := s.quick(ctx, a, cfg, quick{dir, inferred.Derived()})
	return r, inferred.Derived(), err
}

// quick is what a quickstart knows beside the configuration.
type quick struct {
	probe   string // a clone of the repository that the run may keep; "" when there is none
	derived any    // what the caller is told of the inference
}

// derivedFile keeps that in the run's folder: who holds a handle is told at the end.
const derivedFile = "derived.json"

// quick starts a launch of a derived configuration.
func (s *Service) quick(ctx context.Context, a Ask, cfg quickstart.RunConfig, q quick) (Started, error) {
	raw, err := json.Marshal(cfg)
	if err != nil {
		return Started{}, err
	}
	return s.start(ctx, a, raw, q)
}

// readme returns the text of the repository's README, the first of its entry
// documents, or "".
func readme(dir string, docs []string) string {
	if len(docs) == 0 || !strings.HasPrefix(strings.ToLower(filepath.Base(docs[0])), "readme") {
		return ""
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Stat(docs[0])
	if err != nil || info.Size() > 1<<20 {
		return ""
	}
	text, err := root.ReadFile(docs[0])
	if err != nil {
		return ""
	}
	return string(text)
}
