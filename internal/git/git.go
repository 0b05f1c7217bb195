// Package git drives the git program on repositories that nobody vouches for.
//
// A repository can carry code: hooks, filters, file system monitors, diff drivers,
// transports that are commands. None of it runs here. Hooks point nowhere, the ext
// transport is never allowed, filters that any configuration defines are emptied
// for each call, diffs use no external program, submodules are not fetched, and
// nothing asks a person.
//
// The person's own set-up holds: HOME, XDG_CONFIG_HOME, proxies, insteadOf,
// credential helpers and GIT_* variables, except those that point git at a
// repository other than the one the caller names.
//
// URLs and refs come from clients and are checked before git sees them: see
// [Git.CheckURL] and [CheckRef]. What git prints reaches an error only without user
// names, passwords and absolute paths.
//
// The same inputs give the same bytes: commits take their names and dates from the
// caller, diffs do not depend on the person's configuration, lists are sorted as git
// sorts them.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// Options says what git may do.
type Options struct {
	Env     []string // the environment of this process, as NAME=value
	Schemes []string // URL schemes a client may name; https, ssh and git when empty
}

// Git runs the git program. It holds no state of a repository and is safe for
// concurrent use; git itself locks a repository that is written.
type Git struct {
	env     []string
	schemes []string
	lease   *proc.Lease // of every call, or nil
}

// maxOutput bounds what one call may print, such as a patch.
const maxOutput = 256 << 20

// hardening is given to every call and wins over every configuration file.
var hardening = []string{
	// Nothing of the repository's runs.
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"protocol.ext.allow=never",
	"safe.bareRepository=explicit",
	"submodule.recurse=false",
	"fetch.recurseSubmodules=false",
	"push.gpgSign=false",
	// Names that other systems read as .git are refused.
	"core.protectHFS=true",
	"core.protectNTFS=true",
	// Nothing is left behind in the background.
	"gc.auto=0",
	"maintenance.auto=false",
	// The person's taste does not show in what we read and make.
	"advice.detachedHead=false",
	"core.quotePath=true",
	"core.fileMode=true",
	"diff.suppressBlankEmpty=false",
	"diff.mnemonicPrefix=false",
	"i18n.commitEncoding=utf-8",
	"i18n.logOutputEncoding=utf-8",
}

// dropped are variables that would point git at another repository, change how it
// reads paths, or start a program.
var dropped = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_QUARANTINE_PATH", "GIT_DEFAULT_HASH", "GIT_TEMPLATE_DIR",
	"GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
	"LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES",
}

// fixed are set for every call: English messages, no prompts, paths that are paths.
// emptyVar is what emptied configuration values are read from.
var fixed = []string{
	"LANG=C", "LC_ALL=C",
	"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=/bin/false", "SSH_ASKPASS_REQUIRE=force",
	"GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
	emptyVar + "=",
}

const emptyVar = "GANTRY_EMPTY"

// New returns a Git for the environment. It fails with TOOLCHAIN_MISSING when git
// is not in its PATH.
func New(o Options) (*Git, error) {
	if _, err := proc.LookPath("git", o.Env); err != nil {
		return nil, err
	}
	g := &Git{schemes: o.Schemes}
	if len(g.schemes) == 0 {
		g.schemes = []string{"https", "ssh", "git"}
	}
	for _, entry := range o.Env {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(dropped, name) && name != "GIT_ALLOW_PROTOCOL" {
			g.env = append(g.env, entry)
		}
	}
	g.env = append(g.env, fixed...)
	g.env = append(g.env, "GIT_ALLOW_PROTOCOL="+g.protocols(proc.Getenv(o.Env, "GIT_ALLOW_PROTOCOL")))
	return g, nil
}

// Leasing returns a Git whose calls share the lease: it is not free before they are
// over, even if this process dies.
func (g *Git) Leasing(l *proc.Lease) *Git {
	leasing := *g
	leasing.lease = l
	return &leasing
}

// protocols returns the transports git may use, which insteadOf can lead to even
// when no client may name them. The person's own list holds, but for ext.
func (g *Git) protocols(own string) string {
	list := []string{"file", "git", "http", "https", "ssh"}
	list = append(list, g.schemes...)
	if own != "" {
		list = strings.Split(own, ":")
	}
	list = slices.DeleteFunc(list, func(p string) bool { return p == "ext" })
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ":")
}

// call is one run of git.
type call struct {
	dir   string
	args  []string
	env   []string // added to the environment
	stdin string
	max   int // bytes of output that are wanted; 0: all, and more than maxOutput is a failure
}

// in makes a call in a folder.
func in(dir string, args ...string) call { return call{dir: dir, args: args} }

// run runs git and returns what it printed. A failure of git is a PROCESS_FAILED
// fault whose chain holds a *failure.
func (g *Git) run(ctx context.Context, c call) (string, error) {
	result, err := proc.Run(ctx, proc.Spec{
		Name: "git", Args: withHardening(c.args), Dir: c.dir, Env: slices.Concat(g.env, c.env),
		Stdin: []byte(c.stdin), MaxOutput: cmp.Or(c.max, maxOutput), Lease: g.lease,
	})
	if err != nil {
		return "", err
	}
	if result.StdoutTruncated && c.max == 0 {
		return "", fault.New(fault.ProcessFailed, "git %s printed more than %d MiB", c.name(), maxOutput>>20)
	}
	if !result.OK() {
		f := &failure{name: c.name(), exit: result.Exit, stderr: redact(string(result.Stderr), c.paths(proc.Getenv(g.env, "HOME"))...)}
		return "", fault.New(fault.ProcessFailed, "%s", f.Error()).Because(f)
	}
	return string(result.Stdout), nil
}

// paths returns the folders that the call knows of, and home.
func (c call) paths(home string) []string {
	known := []string{c.dir, home}
	for _, arg := range c.args {
		if filepath.IsAbs(arg) {
			known = append(known, arg)
		}
	}
	return known
}

func withHardening(args []string) []string {
	all := make([]string, 0, 2*len(hardening)+len(args))
	for _, setting := range hardening {
		all = append(all, "-c", setting)
	}
	return append(all, args...)
}

// name returns the git command of the call, without options.
func (c call) name() string {
	for i, arg := range c.args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || c.args[i-1] != "-c") {
			return arg
		}
	}
	return ""
}

// runTree is run for a command that reads or writes files of a work tree, with all
// filters emptied that any configuration defines.
func (g *Git) runTree(ctx context.Context, c call) (string, error) {
	names, err := g.run(ctx, in(c.dir, "config", "--null", "--name-only", "--get-regexp", `^filter\.`))
	var f *failure
	if errors.As(err, &f) && f.exit == 1 { // there are none
		err = nil
	}
	if err != nil {
		return "", err
	}
	c.args = append(emptied(names), c.args...)
	return g.run(ctx, c)
}

// emptied returns options that empty the filters with the NUL-separated keys.
// Values come from a variable because a filter's name may hold an equals sign.
func emptied(keys string) []string {
	var options, seen []string
	for key := range strings.SplitSeq(keys, "\x00") {
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 || slices.Contains(seen, key[:dot]) {
			continue
		}
		seen = append(seen, key[:dot])
		for _, part := range []string{"clean", "smudge", "process", "required"} {
			options = append(options, fmt.Sprintf("--config-env=%s.%s=%s", key[:dot], part, emptyVar))
		}
	}
	return options
}
