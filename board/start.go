package board

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// plan is an attempt that is going to be made.
type plan struct {
	row
	start sessions.StartRequest
}

// StartAttempt makes the worktrees and starts the agent. When it fails, nothing is left:
// no row, no folder, no branch, and the task is as it was. It is INVALID_INPUT for a
// repository that the project does not have or that is named twice, EXECUTOR_UNAVAILABLE
// for an agent or a variant that is not known, REF_NOT_FOUND for a target branch.
func (b *Board) StartAttempt(ctx context.Context, a Ask, n NewAttempt) (Attempt, error) {
	if done, err := b.started(ctx, a); done != nil || err != nil {
		return deref(done), err
	}
	p, err := b.plan(ctx, a, n)
	if err != nil {
		return Attempt{}, err
	}
	lease, err := proc.TakeLease(ctx, b.leaseFile(p.ID), false)
	if err != nil {
		return Attempt{}, err
	}
	defer lease.Release()
	if err := b.intend(ctx, a, p); err != nil {
		b.dropLease(p.ID)
		return Attempt{}, err
	}
	err = b.build(ctx, b.o.Git.Leasing(lease), p.row)
	if err == nil {
		_, err = b.o.Sessions.Start(ctx, p.start)
	}
	// From here on the caller's patience does not count: what there is is finished or undone.
	ctx = context.WithoutCancel(ctx)
	if err == nil || b.o.Journals.Size(p.session) > 0 {
		return b.finish(ctx, p.row)
	}
	if failed := b.undo(ctx, b.o.Git.Leasing(lease), p.row); failed != nil {
		b.o.Log.Error("a failed start could not be undone; it is tried again later", "attempt", p.ID, "error", failed.Error())
	}
	return Attempt{}, err
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// started returns the attempt that the key has led to. One whose maker has died is finished
// or undone first.
func (b *Board) started(ctx context.Context, a Ask) (*Attempt, error) {
	kept, id, err := b.lookUp(ctx, b.db, a)
	if err == nil && kept == nil && id != "" {
		if _, err = b.recover(ctx, id); err == nil {
			kept, id, err = b.lookUp(ctx, b.db, a)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case kept != nil:
		var done Attempt
		return &done, json.Unmarshal(kept, &done)
	case id != "":
		return nil, underWay()
	}
	return nil, nil
}

// plan checks a request and decides all that is going to be made.
func (b *Board) plan(ctx context.Context, a Ask, n NewAttempt) (plan, error) {
	if err := b.ready(ctx); err != nil {
		return plan{}, err
	}
	task, err := b.task(ctx, b.db, n.TaskID)
	if err != nil {
		return plan{}, err
	}
	executor, variant, err := b.executor(n.Executor, n.Variant)
	if err != nil {
		return plan{}, err
	}
	if n.Prompt == "" {
		n.Prompt = task.Title
		if task.Description != "" {
			n.Prompt += "\n\n" + task.Description
		}
	}
	if err := prose("prompt", n.Prompt, MaxTitle+2+MaxDescription); err != nil {
		return plan{}, err
	}
	id := b.newID()
	p := plan{row: row{owner: a.Owner, session: runs.ID(b.newID()), phase: starting}}
	now := timeOf(b.now())
	p.Attempt = Attempt{
		ID: id, TaskID: task.ID, Branch: "gantry/" + id[len(id)-8:] + "-" + slug(task.Title), Executor: executor, Variant: variant,
		Dir: filepath.Join(b.o.Dir, "attempts", id), CreatedAt: now, UpdatedAt: now, State: Idle,
	}
	if p.Repos, err = b.planRepos(ctx, task.ProjectID, p.Dir, n.Repos); err != nil {
		return plan{}, err
	}
	if len(p.Repos) == 1 {
		p.Dir = p.Repos[0].Worktree
	}
	p.start = sessions.StartRequest{
		Ask: sessions.Ask{Owner: a.Owner, CallID: a.CallID, Tool: a.Tool}, ID: p.session,
		Executor: executor, Variant: variant, Model: n.Model, Prompt: n.Prompt, Title: task.Title, Dir: p.Dir,
		Labels: map[string]string{"project_id": task.ProjectID, "task_id": task.ID, "attempt_id": id},
	}
	return p, nil
}

// executor returns the names of an agent and of one of its variants.
func (b *Board) executor(name, variant string) (string, string, error) {
	cli, err := b.o.Executors.Find(name)
	if err != nil {
		return "", "", fault.New(fault.ExecutorUnavailable, "%s", fault.From(err).Message)
	}
	variant = agents.Normalize(variant)
	if variant != "" && !slices.Contains(cli.Variants(), variant) {
		return "", "", fault.New(fault.ExecutorUnavailable, "%s has no variant %.64q", cli.Name(), variant)
	}
	return cli.Name(), variant, nil
}

// planRepos finds the repositories of a request, and the commits to start from.
func (b *Board) planRepos(ctx context.Context, projectID, dir string, targets []RepoTarget) (out []AttemptRepo, err error) {
	if len(targets) == 0 {
		return nil, fault.New(fault.InvalidInput, "an attempt needs a repository").WithHint("take repo_id from list_repos")
	}
	known, err := b.repos(ctx, projectID)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		i := slices.IndexFunc(known, func(r Repo) bool { return r.ID == t.RepoID })
		if i < 0 {
			return nil, fault.New(fault.RepoNotFound, "the task's project has no repository %.64q", t.RepoID).WithHint("take repo_id from list_repos")
		}
		if slices.ContainsFunc(out, func(r AttemptRepo) bool { return r.RepoID == t.RepoID }) {
			return nil, fault.New(fault.InvalidInput, "the repository %s is named twice", known[i].Name)
		}
		base, err := b.o.Git.ResolveBranch(ctx, known[i].Path, t.TargetBranch)
		if fault.Is(err, fault.RefNotFound) {
			return nil, fault.New(fault.RefNotFound, "the repository %s has no branch %.80q", known[i].Name, t.TargetBranch).Because(err)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, AttemptRepo{
			RepoID: t.RepoID, Name: known[i].Name, Worktree: filepath.Join(dir, known[i].Name), TargetBranch: t.TargetBranch, BaseCommit: base,
			path: known[i].Path,
		})
	}
	return out, nil
}

// intend writes down what is going to be made, and claims the key.
func (b *Board) intend(ctx context.Context, a Ask, p plan) error {
	return b.within(ctx, func(tx *sql.Tx) error {
		if kept, id, err := b.lookUp(ctx, tx, a); err != nil || kept != nil || id != "" {
			return errors.Join(err, underWay()) // claimed since we looked
		}
		if _, err := b.task(ctx, tx, p.TaskID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO attempts (attempt_id, task_id, branch, dir, executor, variant, owner, session_id, phase, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, p.ID, p.TaskID, p.Branch, p.Dir, p.Executor, p.Variant, p.owner, p.session, starting,
			micro(p.CreatedAt), micro(p.UpdatedAt)); err != nil {
			return err
		}
		for i, r := range p.Repos {
			if _, err := tx.ExecContext(ctx, `INSERT INTO attempt_repos (attempt_id, position, repo_id, name, path, worktree, target, base)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, p.ID, i, r.RepoID, r.Name, r.path, r.Worktree, r.TargetBranch, r.BaseCommit); err != nil {
				return err
			}
		}
		return b.claim(ctx, tx, a, nil, p.ID)
	})
}

// build makes the worktrees.
func (b *Board) build(ctx context.Context, g *git.Git, r row) error {
	if err := os.Mkdir(b.folder(r.ID), 0o700); err != nil {
		return err
	}
	for _, t := range r.Repos {
		if err := g.AddWorktree(ctx, t.path, t.Worktree, r.Branch, t.BaseCommit); err != nil {
			return err
		}
	}
	return nil
}

// finish says that the attempt is there: its session is.
func (b *Board) finish(ctx context.Context, r row) (done Attempt, err error) {
	size := b.o.Journals.Size(r.session)
	s, err := b.o.Sessions.Get(r.owner, r.session)
	if err != nil {
		return Attempt{}, err
	}
	err = b.within(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE attempts SET phase = ? WHERE attempt_id = ?`, ready, r.ID); err != nil {
			return err
		}
		if err := b.copyTurn(ctx, tx, r, s, size); err != nil {
			return err
		}
		kept, err := scanRow(tx.QueryRowContext(ctx, rowColumns+` WHERE attempt_id = ?`, r.ID))
		if err != nil {
			return err
		}
		done, done.Repos = kept.Attempt, r.Repos
		raw, err := json.Marshal(done)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE keys SET result = ? WHERE attempt_id = ?`, raw, r.ID)
		return err
	})
	if err != nil {
		return Attempt{}, err
	}
	b.dropLease(r.ID)
	return done, nil
}

// folder returns the folder of an attempt, above its worktrees.
func (b *Board) folder(id string) string { return filepath.Join(b.o.Dir, "attempts", id) }

func (b *Board) leaseFile(id string) string { return filepath.Join(b.o.Dir, "leases", id) }
