package quickstart

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

var (
	nameInPath = lazyregexp.New(`^[a-z0-9.+_-]{1,40}$`)
	hostName   = lazyregexp.New(`^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*$`)
	blank      = lazyregexp.New(`\{[^}]*\}`)
)

// targets are the values of run_config's target_platform.
var targets = []string{
	"python", "typescript", "javascript", "java", "dotnet", "cpp", "go", "ruby", "php", "kotlin", "swift", "rust", otherTarget,
}

// otherTarget is the target_platform of what no other value describes.
const otherTarget = "other"

// CheckProfiles checks profiles that are to be used together, such as the shipped
// ones and those of a configuration. The error is CONFIG_INVALID and says what is
// wrong with the first that cannot be used.
func CheckProfiles(list []Profile) error {
	hosts := map[string]bool{}
	for _, p := range list {
		why := p.check()
		for _, host := range p.Hosts {
			if hosts[host] {
				why = "one of its hosts belongs to another section or site too"
			}
			hosts[host] = true
		}
		if why != "" {
			return fault.New(fault.ConfigInvalid, "the site profile %.64q cannot be used: %s", p.Name, why)
		}
	}
	return nil
}

// check says what is wrong with a profile by itself, or nothing.
func (p Profile) check() string {
	switch {
	case p.Name == "" || p.ProductSlug == "" || p.ProductName == "" || p.Repository == "":
		return "it needs a name, product_slug, product_name and repository"
	case !p.hostsAreGood():
		return "it needs hosts: section (" + strings.Join(dossier.Sections(), ", ") + ") to host name, in lower case"
	case !p.familiesAreGood():
		return "it needs families, each with a title and a name of its own in lower case"
	case !p.platformsAreGood():
		return "it needs platforms, each with a title, names of its own in lower case and a target_platform of run_config"
	case !p.blanksAreGood():
		return "a text has a blank that is not {family}, {platform}, {Family} or {Platform}"
	case !p.repositoriesAreGood():
		return "a repository is no https URL without a user, a repositories key is no family/platform, or " +
			"a repository_names entry lacks {family} and {platform}, each once"
	}
	return ""
}

func (p Profile) hostsAreGood() bool {
	for section, host := range p.Hosts {
		if !slices.Contains(dossier.Sections(), section) || !hostName.MatchString(host) {
			return false
		}
	}
	return len(p.Hosts) > 0
}

func (p Profile) familiesAreGood() bool {
	var names []string
	for _, f := range p.Families {
		if f.Title == "" {
			return false
		}
		names = append(names, f.Name)
	}
	return areNames(names)
}

func (p Profile) platformsAreGood() bool {
	var names []string
	for _, platform := range p.Platforms {
		if platform.Title == "" || !slices.Contains(targets, platform.Target) {
			return false
		}
		names = append(append(names, platform.Name), platform.Aliases...)
	}
	return areNames(names)
}

// areNames reports whether there are names, all of which can stand in a path and
// differ.
func areNames(names []string) bool {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || !nameInPath.MatchString(name) || strings.Trim(name, ".") == "" {
			return false
		}
		seen[name] = true
	}
	return len(names) > 0
}

func (p Profile) blanksAreGood() bool {
	texts := append([]string{p.ProductSlug, p.ProductName, p.Repository}, p.RepositoryNames...)
	for _, b := range blank.FindAllString(strings.Join(texts, "\n"), -1) {
		if !slices.Contains([]string{"{family}", "{platform}", "{Family}", "{Platform}"}, b) {
			return false
		}
	}
	return true
}

func (p Profile) repositoriesAreGood() bool {
	for key, repository := range p.Repositories {
		family, platform, ok := strings.Cut(key, "/")
		if !ok || p.family(family) == nil || p.platform(platform) == nil || !isGitURL(repository) {
			return false
		}
	}
	for _, pattern := range p.RepositoryNames {
		if strings.Count(pattern, "{family}") != 1 || strings.Count(pattern, "{platform}") != 1 {
			return false
		}
	}
	return isGitURL(p.fill(p.Repository, p.Families[0], p.Platforms[0]))
}

func isGitURL(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(u.Path) > 1
}
