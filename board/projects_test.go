package board

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// names returns the names of the projects, each with its source.
func (w *world) names() string {
	w.t.Helper()
	var out []string
	for _, p := range must(w.b.Projects(w.t.Context()))(w.t) {
		out = append(out, p.Name+" "+string(p.Source))
	}
	return strings.Join(out, ", ")
}

func TestProjectsComeFromTheConfigurationTheCommandLineAndTheRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, web, root := w.repo("api"), w.repo("web"), w.repo("root")
	w.sh(root, "mkdir -p deep/er; git worktree add -q ../linked")
	config := func(o *Options) {
		o.Projects = []NewProject{{Name: "shop", Repos: []RepoAt{{Path: api}, {Path: web, Name: "site"}, {Path: w.dir + "/none"}}}}
		o.Root = filepath.Join(root, "deep", "er")
	}
	w.open(config)
	if got := w.names(); got != "root root, shop config" {
		t.Fatal(got)
	}
	before := must(w.b.Projects(t.Context()))(t)
	repos := must(w.b.Repos(t.Context(), before[1].ID))(t)
	if len(repos) != 2 || repos[0].Name != "api" || repos[1].Name != "site" || repos[1].Path != web || repos[1].DefaultBranch != "main" {
		t.Errorf("%+v", repos)
	}
	added := must(w.b.AddProject(t.Context(), Ask{}, NewProject{Name: "mine", Repos: []RepoAt{{Path: api + "/.", Name: "other-name"}}}))(t)
	if got := must(w.b.Repos(t.Context(), added.ID))(t); len(got) != 1 || got[0].ID != repos[0].ID || got[0].Name != "other-name" {
		t.Errorf("the same repository in two projects: %+v", got)
	}
	w.open(config)
	if got := w.names(); got != "mine cli, root root, shop config" {
		t.Error(got)
	}
	after := must(w.b.Projects(t.Context()))(t)
	if after[1].ID != before[0].ID || after[2].ID != before[1].ID {
		t.Errorf("the ids changed: %+v %+v", before, after)
	}
	// From a linked worktree the root is the same repository.
	w.open(func(o *Options) { o.Root = w.dir + "/linked" })
	if got := w.names(); got != "mine cli, root root" {
		t.Errorf("a project that left the configuration and has no tasks: %s", got)
	}
	w.open(config)
	w.task(after[2], "x")
	w.open(func(o *Options) { o.Root = api })
	if got := w.names(); got != "mine cli, shop config" {
		t.Errorf("one with tasks, and a root that a project has: %s", got)
	}
	w.open(func(o *Options) { o.Root = w.dir })
	if got := w.names(); got != "mine cli, shop config" {
		t.Errorf("a root that is no repository: %s", got)
	}
}

func TestAProjectThatIsNotRightIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.repo("api")
	w.sh(w.dir, "mkdir plain; git init -q --bare bare.git")
	for what, c := range map[string]struct {
		p    NewProject
		code fault.Code
	}{
		"no name":          {NewProject{Repos: []RepoAt{{Path: api}}}, fault.InvalidInput},
		"no repository":    {NewProject{Name: "x"}, fault.InvalidInput},
		"a plain folder":   {NewProject{Name: "x", Repos: []RepoAt{{Path: w.dir + "/plain"}}}, fault.RepoNotFound},
		"a bare one":       {NewProject{Name: "x", Repos: []RepoAt{{Path: w.dir + "/bare.git"}}}, fault.RepoNotFound},
		"twice":            {NewProject{Name: "x", Repos: []RepoAt{{Path: api}, {Path: api, Name: "b"}}}, fault.InvalidInput},
		"a path as name":   {NewProject{Name: "x", Repos: []RepoAt{{Path: api, Name: "../b"}}}, fault.InvalidInput},
		"a hidden name":    {NewProject{Name: "x", Repos: []RepoAt{{Path: api, Name: ".git"}}}, fault.InvalidInput},
		"an option's name": {NewProject{Name: "x", Repos: []RepoAt{{Path: api, Name: "-b"}}}, fault.InvalidInput},
	} {
		_, err := w.b.AddProject(t.Context(), Ask{}, c.p)
		wants(t, what, err, c.code)
	}
	odd := NewProject{Name: "odd", Repos: []RepoAt{{Path: w.repo("..a b-c")}, {Path: w.repo("A-b-c")}}}
	p := must(w.b.AddProject(t.Context(), Ask{}, odd))(t)
	repos := must(w.b.Repos(t.Context(), p.ID))(t)
	if len(repos) != 2 || repos[0].Name != "A-b-c-2" || repos[1].Name != "a-b-c" {
		t.Errorf("%+v", repos)
	}
	_, err := w.b.AddProject(t.Context(), Ask{}, NewProject{Name: "odd", Repos: []RepoAt{{Path: api}}})
	wants(t, "a name that is taken", err, fault.InvalidInput)
	for _, id := range []string{"", "x", api, "' OR 1=1 --"} {
		_, err = w.b.Repos(t.Context(), id)
		wants(t, "unknown", err, fault.ProjectNotFound)
	}
	ask := Ask{Tool: "t", Once: &runs.Once{Key: "k", Hash: "h"}}
	mine := NewProject{Name: "mine", Repos: []RepoAt{{Path: api}}}
	if a, b := must(w.b.AddProject(t.Context(), ask, mine))(t), must(w.b.AddProject(t.Context(), ask, mine))(t); a != b {
		t.Errorf("a key made two: %+v %+v", a, b)
	}
}
