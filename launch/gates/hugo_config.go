package gates

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/site"
)

// hugoConfigGate holds the plan against the site's Hugo configuration: there is
// one, it is the one that the launch began with, and it serves the folders,
// languages and sections that the plan writes to.
func hugoConfigGate() Gate {
	return Gate{
		Name: "hugo_config", Title: "the site's Hugo configuration serves what the plan writes",
		Codes:   []string{HugoConfigMissing, HugoPathMismatch, HugoSubdomainNotEnabled, HugoConfigChanged},
		Timeout: within(10*time.Second, 20*time.Second), Run: runHugoConfig,
	}
}

func runHugoConfig(ctx context.Context, in *Input) (Outcome, error) {
	if h := in.Config.Hugo; h != nil && h.UseConfigGate != nil && !*h.UseConfigGate {
		return Outcome{Skipped: "hugo.use_config_gate is off in the run's configuration"}, nil
	}
	plan, err := Plan(in)
	if err != nil {
		return Outcome{}, err
	}
	c := hugoCheck{in: in, plan: plan}
	if len(in.Context.Hugo.ConfigFiles) == 0 {
		c.add(HugoConfigMissing, in.byProfile(dossier.Warning, dossier.Error, dossier.Blocker), "",
			"Add a hugo.toml to the site, or name the right repository in site_repo_url.", "the site has no Hugo configuration")
		return c.out, nil
	}
	if err := c.unchanged(ctx); err != nil {
		return Outcome{}, err
	}
	c.paths()
	c.languages()
	c.subdomains()
	return c.out, nil
}

type hugoCheck struct {
	in   *Input
	plan dossier.PagePlan
	out  Outcome
}

func (c *hugoCheck) add(code, severity, at, fix, format string, args ...any) {
	c.out.Issues = append(c.out.Issues, issue("hugo_config", code, severity, at, 0, fix, format, args...))
}

// unchanged compares the configuration's fingerprints with those at the start.
func (c *hugoCheck) unchanged(ctx context.Context) error {
	now, err := site.ConfigFiles(ctx, c.in.Site.FS())
	if err != nil {
		return err
	}
	was := map[string]string{}
	for _, f := range c.in.Context.Hugo.ConfigFiles {
		was[f.Path] = f.SHA256
	}
	c.out.Checked += len(now)
	for _, f := range now {
		if was[f.Path] != f.SHA256 {
			c.add(HugoConfigChanged, dossier.Blocker, f.Path, "Put the file back as it was, or start a launch on the changed site.",
				"the configuration is not the one that the launch began with")
		}
		delete(was, f.Path)
	}
	for _, f := range c.in.Context.Hugo.ConfigFiles {
		if was[f.Path] != "" {
			c.add(HugoConfigChanged, dossier.Blocker, f.Path, "Put the file back, or start a launch on the changed site.", "the configuration file is gone")
		}
	}
	return nil
}

// paths wants each planned page in its section's folder, and that in the folder
// which Hugo reads.
func (c *hugoCheck) paths() {
	const fix = "Correct site_layout in the run_config and start again; plan and site do not fit."
	for _, p := range c.plan.Pages {
		c.out.Checked++
		root := strings.Trim(path.Clean(c.in.Context.Layout.SubdomainRoots[p.Section]), "/")
		if !strings.HasPrefix(p.OutputPath, root+"/") {
			c.add(HugoPathMismatch, dossier.Blocker, p.OutputPath, fix, "the page is planned outside of its section's folder %s", quote(root))
		} else if !strings.HasPrefix(p.OutputPath, c.in.contentRoot()+"/") && !c.ownSite(p.Section) {
			c.add(HugoPathMismatch, dossier.Blocker, p.OutputPath, fix, "Hugo reads pages from %s, and the page is not in it", quote(c.in.contentRoot()))
		}
	}
}

// ownSite reports whether the section has a configuration of its own.
func (c *hugoCheck) ownSite(section string) bool {
	return slices.ContainsFunc(c.in.Context.Hugo.ConfigFiles, func(f dossier.ConfigFile) bool { return ofSubdomain(f.Path, section) })
}

// languages wants the run's language among the site's, where those are listed.
func (c *hugoCheck) languages() {
	known := c.in.Context.Hugo.Languages
	if locale := c.in.Config.Locale; len(c.plan.Pages) > 0 && len(known) > 0 && !containsFold(known, locale) {
		c.add(HugoSubdomainNotEnabled, dossier.Blocker, "", "Enable the language in the site's configuration, or set locale to one that it has.",
			"the site does not have the language %s; it has %s", quote(locale), quote(strings.Join(known, ", ")))
	}
}

func containsFold(list []string, want string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, want) })
}

// subdomains wants, in a site with a configuration for each subdomain and family
// (configs/docs.example.org/widgets.toml), the one of each planned section.
func (c *hugoCheck) subdomains() {
	entries, err := fs.ReadDir(c.in.Site.FS(), "configs")
	if err != nil {
		return
	}
	named := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		head, _, dotted := strings.Cut(e.Name(), ".")
		return dotted && slices.Contains(dossier.Sections(), head)
	})
	if !named {
		return
	}
	for _, section := range dossier.Sections() {
		planned := slices.ContainsFunc(c.plan.Pages, func(p dossier.PlannedPage) bool { return p.Section == section })
		if planned && !c.enabled(section) {
			c.add(HugoSubdomainNotEnabled, dossier.Blocker, "configs", "Add the configuration, or leave the section out of required_sections.",
				"no configuration enables section %s for family %s", section, quote(c.in.Config.Family))
		}
	}
}

func (c *hugoCheck) enabled(section string) bool {
	return slices.ContainsFunc(c.in.Context.Hugo.ConfigFiles, func(f dossier.ConfigFile) bool {
		stem := strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
		return ofSubdomain(f.Path, section) && (section == dossier.Blog || strings.EqualFold(stem, c.in.Config.Family))
	})
}

// ofSubdomain reports whether a configuration file is in, or is itself,
// configs/<section>.<domain>.
func ofSubdomain(name, section string) bool {
	rest, under := strings.CutPrefix(name, "configs/")
	return under && strings.HasPrefix(rest, section+".")
}
