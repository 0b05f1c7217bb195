package agents

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/internal/proc"
)

// handle is the form of what is given to a CLI as an argument: nothing that it could take
// for an option.
var handle = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.:/@+\[\]-]{0,199}$`)

// check refuses a turn that c cannot be asked for.
func (t Turn) check(c CLI) error {
	switch v := Normalize(t.Variant); {
	case strings.TrimSpace(t.Prompt) == "":
		return fault.New(fault.InvalidInput, "the prompt is empty").WithHint("say what the agent is to do")
	case v != "" && !slices.Contains(c.Variants(), v):
		f := fault.New(fault.InvalidInput, "%s has no variant %.64q", c.Name(), t.Variant)
		if len(c.Variants()) == 0 {
			return f.WithHint("leave the variant out")
		}
		return f.WithHint("leave it out, or use one of %s", strings.Join(c.Variants(), ", "))
	case t.Model != "" && !handle.MatchString(t.Model):
		return fault.New(fault.InvalidInput, "%.64q is no name of a model", t.Model)
	case t.Thread != "" && !handle.MatchString(t.Thread):
		return fault.New(fault.InvalidInput, "%.64q is no name of a conversation", t.Thread)
	}
	return nil
}

// noConfig refuses a configuration file for a CLI that has none to be named.
func (t Turn) noConfig(c CLI) error {
	if t.ConfigFile == "" {
		return nil
	}
	return fault.New(fault.InvalidInput, "%s takes no configuration file", c.Name()).WithHint("leave config out")
}

// ofParent are variables by which a CLI tells what it starts that it did so. An agent that
// this program starts is not part of the one that started this program.
var ofParent = []string{
	"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_TASKS_EXIT_AFTER_START", "CODEX_TASK_PROMPT", "CODEX_TASK_TITLE",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR",
}

// environment returns the environment of an agent: what works in a project inherits, the
// CLI's own variables, which begin with the prefixes, and what the configuration and the
// turn add.
func (t Turn) environment(o Options, prefixes ...string) []string {
	env := proc.WorkEnv(t.Env, func(name string) bool {
		if slices.Contains(o.Inherit, name) {
			return true
		}
		own := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		return slices.ContainsFunc(prefixes, own) && !slices.Contains(ofParent, name)
	})
	return with(env, t.ExtraEnv...)
}

// with returns env with variables set, sorted by name.
func with(env []string, values ...string) []string {
	for _, v := range values {
		name, _, _ := strings.Cut(v, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, v)
	}
	slices.SortFunc(env, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	return env
}

const probeTimeout = 10 * time.Second

// probe asks a program for its version.
func probe(ctx context.Context, name, program string, env []string, install string, args ...string) Probe {
	p := Probe{Name: name, Program: program}
	if _, err := proc.LookPath(program, env); err != nil {
		p.Reason = "it is not installed"
		if install != "" {
			p.Reason += ": " + install
		}
		return p
	}
	p.Installed = true
	r, err := proc.Run(ctx, proc.Spec{
		Name: program, Args: args, Timeout: probeTimeout, MaxOutput: maxText,
		Env: proc.WorkEnv(env, func(string) bool { return false }),
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		p.Reason = "it did not tell its version in time"
	case err != nil:
		p.Reason = fault.From(err).Message
	case !r.OK():
		p.Reason = fault.From(r.Err(program)).Message
		if said := clip(proc.Text(r.Stderr), 200); said != "" {
			p.Reason += ": " + said
		}
	default:
		p.Version, p.Works = clip(proc.Text(r.Stdout), 200), true
	}
	return p
}

func short(text string) string {
	text, _ = bounded(text)
	return text
}
