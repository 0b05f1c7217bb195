package targets

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// Request asks for a target to be started.
type Request struct {
	Name string            // unique, or plain when only one target has it
	Args []string          // appended to the target's argv, each as it is
	Env  map[string]string // added to the environment
	Cwd  string            // folder under the root; empty: the root
}

// Invocation is a request that has passed every check: what to execute, in full. Nothing
// of it is for a shell.
type Invocation struct {
	Target  Target
	Argv    []string // Argv[0] is the tool as it was looked up
	Program string   // absolute path of Argv[0]
	Args    []string // the caller's own, which Argv ends with
	Dir     string   // absolute, links followed, in the root
	Cwd     string   // Dir relative to the root, slash separated
	Env     []string // complete, NAME=value, sorted by name
	Command string   // Argv as a person would type it
}

// Denial is the details of a fault about consent.
type Denial struct {
	UniqueName string `json:"unique_name"`
	FilePath   string `json:"file_path"`
	// Reason is no_allowlist, unreadable, no_entry, denied, recipe_changed, or argument for
	// a further target among the arguments.
	Reason string `json:"reason"`
}

const askHuman = "Ask a human to grant MCP access to this task"

// Decide puts a request to the checks, in this order, and returns what to execute:
// TASK_NOT_FOUND or TASK_AMBIGUOUS; NOT_ALLOWLISTED or NEEDS_REAPPROVAL;
// RUNNER_UNAVAILABLE; PATH_OUTSIDE_ROOT or INVALID_INPUT for cwd; then
// SCHEMA_VALIDATION_FAILED, ARGUMENT_REFUSED and ENV_FORBIDDEN. How many jobs there may be
// and whether the program starts is for whoever executes it.
//
// The target is that of cwd's folder when that has one of the name, else the root's,
// started so that its own file is used and no other.
func (p *Project) Decide(ctx context.Context, r Request) (Invocation, error) {
	rel, cwdErr := p.confine(r.Cwd)
	if cwdErr != nil {
		rel = "."
	}
	t, l, err := p.find(ctx, rel, r.Name)
	if err != nil {
		return Invocation{}, err
	}
	allow := p.o.Allowlist.Load()
	judge := allow.judge(p.root)
	v := judge.of(t)
	if err := consent(t, r.Name, allow, v); err != nil {
		return Invocation{}, err
	}
	if !t.Available || t.Argv == nil {
		return Invocation{}, fault.New(fault.RunnerUnavailable, "Runner '%s' is not available for task '%s'", t.Runner, shown(r.Name)).WithHint("%s", t.hint())
	}
	if cwdErr != nil {
		return Invocation{}, cwdErr
	}
	argv, err := p.argv(t, rel)
	if err != nil {
		return Invocation{}, err
	}
	check := argumentCheck{target: t, allowed: v, judge: judge, others: l.other(t)}
	if err := check.check(r.Args); err != nil {
		return Invocation{}, err
	}
	env, err := environment(p.baseEnv(), r.Env, v.allowEnv)
	if err != nil {
		return Invocation{}, err
	}
	return p.invocation(t, slices.Concat(argv, r.Args), r.Args, rel, env)
}

// find looks a name up in a folder, and then in the root.
func (p *Project) find(ctx context.Context, rel, name string) (Target, Listing, error) {
	l, err := p.list(ctx, rel)
	if err != nil {
		return Target{}, l, err
	}
	t, err := l.Lookup(name)
	if rel == "." || !fault.Is(err, fault.TaskNotFound) {
		return t, l, err
	}
	if l, err = p.list(ctx, "."); err != nil {
		return Target{}, l, err
	}
	t, err = l.Lookup(name)
	return t, l, err
}

// consent turns a verdict into a fault.
func consent(t Target, name string, a Allowlist, v verdict) error {
	if v.allowed {
		return nil
	}
	d := Denial{t.UniqueName, t.FilePath, "no_entry"}
	f := fault.New(fault.NotAllowlisted, "Task '%s' is not allowlisted for MCP execution", shown(name))
	switch {
	case v.changed:
		d.Reason = "recipe_changed"
		f = fault.New(fault.NeedsReapproval, "Task '%s' has changed since it was allowlisted", shown(name))
		return f.WithHint("Ask a human to look at the change and to allow it again: gantry allow %s", quoted(t.UniqueName)).WithDetails(d)
	case !a.Exists:
		d.Reason = "no_allowlist"
		return f.WithHint("%s: there is no allowlist yet, and gantry allow %s creates one", askHuman, quoted(t.UniqueName)).WithDetails(d)
	case a.Err != nil:
		d.Reason = "unreadable"
		return f.WithHint("%s: the allowlist cannot be used, %s", askHuman, sentence(a.Err)).Because(a.Err).WithDetails(d)
	case v.denied:
		d.Reason = "denied"
	}
	return f.WithHint(askHuman).WithDetails(d)
}

func (t Target) hint() string {
	if t.tool.Hint == "" {
		return fmt.Sprintf("Install %s to run this task", t.Runner)
	}
	return t.tool.Hint
}

// argv returns the argv of a target for a folder. In another folder than its own, the tool
// is told which file to use, or must find no other of its files on the way up.
func (p *Project) argv(t Target, rel string) ([]string, error) {
	if rel == t.Dir {
		return t.Argv, nil
	}
	if t.tool.elsewhere != nil {
		return t.tool.elsewhere(t, relative(rel, t.Dir)), nil
	}
	for dir := rel; dir != t.Dir && dir != "."; dir = path.Dir(dir) {
		for _, name := range t.searched {
			if existsIn(p.root, path.Join(dir, name)) {
				return nil, fault.New(fault.InvalidInput, "%s has a %s of its own, which does not define '%s'", shown(dir), name, shown(t.Name)).
					WithHint("leave cwd out, or choose a task from list_tasks with this cwd")
			}
		}
	}
	return t.Argv, nil
}

// other returns how to find the targets that a tool would take further words for.
func (l Listing) other(t Target) func(string) (Target, bool) {
	return func(word string) (Target, bool) {
		i := slices.IndexFunc(l.Targets, func(o Target) bool {
			return o.Runner == t.Runner && o.Argv != nil && (o.Name == word || o.Argv[len(o.Argv)-1] == word)
		})
		if i < 0 {
			return Target{}, false
		}
		return l.Targets[i], true
	}
}

func (p *Project) invocation(t Target, argv, args []string, rel string, env []string) (Invocation, error) {
	dir := filepath.Join(p.root, filepath.FromSlash(rel))
	program := argv[0]
	if strings.Contains(program, "/") {
		program = filepath.Join(dir, program)
	}
	program, err := proc.LookPath(program, env)
	if err != nil {
		return Invocation{}, fault.New(fault.RunnerUnavailable, "Runner '%s' is not available for task '%s'", t.Runner, shown(t.UniqueName)).
			WithHint("%s", t.hint()).Because(err)
	}
	return Invocation{
		Target: t, Argv: argv, Program: program, Args: args, Dir: dir, Cwd: rel, Env: env, Command: clip(printable(display(argv)), maxCommand),
	}, nil
}
