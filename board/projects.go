package board

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
)

// known is what the configuration and the server's folder say of projects: their ids, once
// they are in the file.
type known struct {
	mu     sync.Mutex
	done   bool
	config []string
	root   string
}

// ready brings the projects of the configuration and of the root into the file, at the
// first question: git is asked about each repository. A repository of the configuration
// that is not there is left out and logged.
func (b *Board) ready(ctx context.Context) error {
	b.known.mu.Lock()
	defer b.known.mu.Unlock()
	if b.known.done {
		return nil
	}
	var found []project
	var now struct {
		config []string
		root   string
	}
	for _, p := range b.o.Projects {
		repos, problems := b.findRepos(ctx, p.Repos)
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, problem := range problems {
			b.o.Log.Warn("a repository of the configuration is left out", "project", p.Name, "error", problem.Error())
		}
		id := stableID("project", p.Name)
		now.config = append(now.config, id)
		found = append(found, project{id, p.Name, FromConfig, repos})
	}
	if b.o.Root != "" {
		if repos, problems := b.findRepos(ctx, []RepoAt{{Path: b.o.Root}}); len(problems) == 0 {
			now.root = stableID("root", repos[0].path)
			found = append(found, project{now.root, repos[0].name, FromRoot, repos})
		}
	}
	err := b.within(ctx, func(tx *sql.Tx) error {
		for _, p := range found {
			if err := b.put(ctx, tx, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		b.known.done, b.known.config, b.known.root = true, now.config, now.root
	}
	return err
}

// project is a project as it goes into the file.
type project struct {
	id, name string
	source   Source
	repos    []repoAt
}

type repoAt struct{ id, name, path string }

// findRepos looks the repositories up and gives each a name that no other has. What is
// wrong with the others is in problems.
func (b *Board) findRepos(ctx context.Context, at []RepoAt) (repos []repoAt, problems []error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(repos, func(r repoAt) bool { return strings.EqualFold(r.name, name) })
	}
	for _, r := range at {
		top, err := b.o.Git.Main(ctx, r.Path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		found := repoAt{stableID("repo", top), r.Name, top}
		switch {
		case slices.ContainsFunc(repos, func(o repoAt) bool { return o.path == top }):
			err = fault.New(fault.InvalidInput, "a repository is named twice")
		case r.Name == "":
			found.name = freeName(folderName(filepath.Base(top)), taken)
		case r.Name != folderName(r.Name):
			err = fault.New(fault.InvalidInput, "%.64q cannot be the name of a repository", r.Name).
				WithHint("use letters, digits, dots, dashes and underscores, at most %d, and begin with a letter or a digit", maxName)
		case taken(r.Name):
			err = fault.New(fault.InvalidInput, "two repositories are called %s", r.Name).WithHint("give one of them another name")
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		repos = append(repos, found)
	}
	return repos, problems
}

// put writes a project, and changes nothing that is as it should be.
func (b *Board) put(ctx context.Context, tx *sql.Tx, p project) error {
	now := b.now()
	steps := []struct {
		query string
		args  []any
	}{
		{`INSERT INTO projects (project_id, name, source, created_at, updated_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			[]any{p.id, p.name, p.source, now, now}},
		{`DELETE FROM project_repos WHERE project_id = ? AND repo_id NOT IN (SELECT value FROM json_each(?))`, []any{p.id, idsOf(p.repos)}},
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return err
		}
	}
	for _, r := range p.repos {
		if _, err := tx.ExecContext(ctx, `INSERT INTO repos (repo_id, path, created_at, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			r.id, r.path, now, now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO project_repos (project_id, repo_id, name) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET name = excluded.name WHERE name <> excluded.name`, p.id, r.id, r.name); err != nil {
			return err
		}
	}
	return nil
}

func idsOf(repos []repoAt) string {
	ids := make([]string, len(repos))
	for i, r := range repos {
		ids[i] = r.id
	}
	return list(ids)
}

// AddProject adds a project and its repositories. A name that another one has, a
// repository that is none, and two of one name are INVALID_INPUT or REPO_NOT_FOUND.
func (b *Board) AddProject(ctx context.Context, a Ask, p NewProject) (Project, error) {
	if err := b.ready(ctx); err != nil {
		return Project{}, err
	}
	name, err := line("name", p.Name, MaxTitle)
	if err == nil && len(p.Repos) == 0 {
		err = fault.New(fault.InvalidInput, "a project needs a repository")
	}
	if err != nil {
		return Project{}, err
	}
	repos, problems := b.findRepos(ctx, p.Repos)
	if len(problems) > 0 {
		return Project{}, problems[0]
	}
	id := b.newID()
	return once(ctx, b, a, func(tx *sql.Tx) (Project, error) {
		var other string
		err := tx.QueryRowContext(ctx, `SELECT project_id FROM projects WHERE name = ? AND (source = ? OR project_id IN (SELECT value FROM json_each(?)))`,
			name, FromCLI, list(b.known.config)).Scan(&other)
		if err == nil {
			return Project{}, fault.New(fault.InvalidInput, "there is a project %.64q already", name).WithHint("choose another name")
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return Project{}, err
		}
		if err := b.put(ctx, tx, project{id, name, FromCLI, repos}); err != nil {
			return Project{}, err
		}
		return b.project(ctx, tx, id)
	})
}

const projectColumns = `SELECT project_id, name, source, created_at, updated_at FROM projects`

func scanProject(row scanner) (p Project, err error) {
	var created, updated int64
	err = row.Scan(&p.ID, &p.Name, &p.Source, &created, &updated)
	p.CreatedAt, p.UpdatedAt = timeOf(created), timeOf(updated)
	return p, err
}

// Projects returns the projects by name, the id as tie-break: those of the configuration,
// those that were added, the root's unless one of these has its repository, and any other
// that has tasks.
func (b *Board) Projects(ctx context.Context) ([]Project, error) {
	if err := b.ready(ctx); err != nil {
		return nil, err
	}
	return collect(ctx, b.db, scanProject, `
		WITH chosen AS (SELECT project_id FROM projects WHERE source = ?1 OR project_id IN (SELECT value FROM json_each(?2)))
		`+projectColumns+` AS p WHERE project_id IN chosen
			OR project_id = ?3 AND NOT EXISTS (SELECT 1 FROM project_repos AS mine JOIN project_repos AS other USING (repo_id)
				WHERE mine.project_id = p.project_id AND other.project_id IN chosen)
			OR EXISTS (SELECT 1 FROM tasks WHERE tasks.project_id = p.project_id AND deleted_at IS NULL)
		ORDER BY name, project_id`, FromCLI, list(b.known.config), b.known.root)
}

// Project returns a project.
func (b *Board) Project(ctx context.Context, id string) (Project, error) {
	if err := b.ready(ctx); err != nil {
		return Project{}, err
	}
	return b.project(ctx, b.db, id)
}

func (b *Board) project(ctx context.Context, q querier, id string) (Project, error) {
	p, err := scanProject(q.QueryRowContext(ctx, projectColumns+` WHERE project_id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = absent(fault.ProjectNotFound, "project", id)
	}
	return p, err
}

// Repos returns the repositories of a project by name.
func (b *Board) Repos(ctx context.Context, projectID string) ([]Repo, error) {
	if _, err := b.Project(ctx, projectID); err != nil {
		return nil, err
	}
	repos, err := b.repos(ctx, projectID)
	for i := range repos {
		// A repository that is not readable now is still the project's.
		repos[i].DefaultBranch, _ = b.o.Git.Branch(ctx, repos[i].Path)
	}
	return repos, err
}

func (b *Board) repos(ctx context.Context, projectID string) ([]Repo, error) {
	return collect(ctx, b.db, func(row scanner) (r Repo, err error) {
		var created, updated int64
		err = row.Scan(&r.ID, &r.Name, &r.Path, &created, &updated)
		r.CreatedAt, r.UpdatedAt = timeOf(created), timeOf(updated)
		return r, err
	}, `SELECT repo_id, name, path, created_at, updated_at FROM project_repos JOIN repos USING (repo_id) WHERE project_id = ? ORDER BY name`, projectID)
}
