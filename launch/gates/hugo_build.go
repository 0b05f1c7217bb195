package gates

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/launch/dossier"
)

// hugoBuildGate builds the site with the machine's Hugo and throws the result
// away. Where Hugo is not installed the gate is skipped and says so.
//
// A site's templates are programs. They run without network, without the
// environment and without other programs than git and Sass, whatever the site's
// own configuration allows, and Hugo writes nowhere but into the scratch folder.
// A site that does not build without the launch's changes either is a warning:
// that is not the launch's to answer for.
func hugoBuildGate() Gate {
	return Gate{
		Name: "hugo_build", Title: "the site builds with Hugo",
		Codes:   []string{HugoBuildFailed, HugoBuildError, HugoBuildTimeout},
		Timeout: within(300*time.Second, 600*time.Second), Run: runHugoBuild,
	}
}

const maxNote = 1000 // bytes of an error of Hugo's in the log

func runHugoBuild(ctx context.Context, in *Input) (Outcome, error) {
	if why := noHugo(in); why != "" {
		return Outcome{Skipped: why}, nil
	}
	out := Outcome{Checked: 1}
	add := func(code, severity, at string, line int, fix, format string, args ...any) {
		out.Issues = append(out.Issues, issue("hugo_build", code, severity, at, line, fix, format, args...))
	}
	built, err := build(ctx, in, in.Site.Name(), "")
	if err == nil && !built.ok {
		built, err = build(ctx, in, in.Site.Name(), "GOMAXPROCS=1") // one at a time, Hugo finds the same error first each time
	}
	if errors.Is(err, context.DeadlineExceeded) {
		add(HugoBuildTimeout, dossier.Blocker, "", 0, "Find out what makes the build slow, then validate again.", "Hugo did not finish the build in its time")
		return out, nil
	}
	if err != nil || built.ok {
		return out, err
	}
	for _, note := range built.notes {
		out.Notes = append(out.Notes, "hugo: "+quoteUpTo(maxNote, note))
	}
	for _, f := range built.errors {
		if slices.Contains(in.Changed, f.path) {
			add(HugoBuildError, dossier.Blocker, f.path, f.line, "Correct the page at this line.", "Hugo cannot build the page: %s", quote(f.text))
		}
	}
	if len(out.Issues) > 0 {
		return out, nil
	}
	first := "it says nothing"
	if len(built.notes) > 0 {
		first = built.notes[0]
	}
	if failed, err := failedBefore(ctx, in); err != nil {
		return out, err
	} else if failed {
		add(HugoBuildFailed, dossier.Warning, "", 0, "Make the site build on this machine; its theme or its modules may be missing.",
			"the site does not build, without the launch's pages either: %s", quote(first))
		return out, nil
	}
	add(HugoBuildFailed, dossier.Blocker, "", 0, "Read the gate's log and correct the pages.", "the site no longer builds: %s", quote(first))
	return out, nil
}

// noHugo says why the site cannot be built here, or "".
func noHugo(in *Input) string {
	switch h := in.Config.Hugo; {
	case h != nil && h.Build != nil && !*h.Build:
		return "hugo.build is off in the run's configuration"
	case len(in.Context.Hugo.ConfigFiles) == 0:
		return "the site has no Hugo configuration"
	case in.Scratch == "":
		return "there is no folder to build in"
	}
	if _, err := proc.LookPath("hugo", in.Env); err != nil {
		return "hugo is not installed on this machine"
	}
	return ""
}

// built is what came of a build.
type built struct {
	ok     bool
	errors []buildError // that name a file, by place
	notes  []string     // every line that tells of an error, without times and paths of this machine
}

type buildError struct {
	path string // relative to the site
	line int
	text string
}

// build runs Hugo on a folder. What it makes stays in memory.
func build(ctx context.Context, in *Input, dir, more string) (built, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return built{}, err
	}
	scratch, err := filepath.Abs(in.Scratch)
	if err != nil {
		return built{}, err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return built{}, err
	}
	limit := time.Duration(0)
	if end, ok := ctx.Deadline(); ok {
		limit = time.Until(end) * 9 / 10 // so that it is Hugo that took too long, not the gate
	}
	result, err := proc.Run(ctx, proc.Spec{
		Name: "hugo", Args: []string{"--source", dir, "--renderToMemory", "--noBuildLock"}, Dir: dir,
		Env: hugoEnv(in.Env, scratch, more), MaxOutput: 1 << 20, Timeout: limit,
	})
	if err != nil {
		return built{}, err
	}
	return readBuild(result, dir), nil
}

// hugoEnv is all that Hugo gets: where programs are, and settings that go before
// those of the site.
func hugoEnv(env []string, scratch, more string) []string {
	out := []string{
		"PATH=" + proc.Getenv(env, "PATH"), "HOME=" + scratch, "TMPDIR=" + scratch, "TZ=UTC",
		"HUGO_CACHEDIR=" + filepath.Join(scratch, "cache"), "HUGO_RESOURCEDIR=" + filepath.Join(scratch, "resources"),
		"HUGO_BUILD_WRITESTATS=false", "HUGO_BUILD_BUILDSTATS_ENABLE=false",
		`HUGO_SECURITY_EXEC_ALLOW=^(dart-)?sass(-embedded)?$ ^git$`, "HUGO_SECURITY_HTTP_URLS=none", "HUGO_SECURITY_FUNCS_GETENV=none",
	}
	if more != "" {
		out = append(out, more)
	}
	return out
}

var (
	hugoError = lazyregexp.New(`^(?:ERROR|Error:)\s+(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?(.*)`)
	hugoPlace = lazyregexp.New(`"([^"\n]+?):(\d+)(?::\d+)?"`)
	hugoTotal = lazyregexp.New(`^(?i:error) building site: logged \d+ error`)
)

func readBuild(result proc.Result, dir string) built {
	b := built{ok: result.OK()}
	text := strings.ReplaceAll(string(result.Stdout)+"\n"+string(result.Stderr), dir+string(filepath.Separator), "")
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		text = strings.ReplaceAll(text, real+string(filepath.Separator), "")
	}
	for line := range strings.Lines(text) {
		m := hugoError.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || hugoTotal.MatchString(m[1]) {
			continue
		}
		b.notes = append(b.notes, m[1])
		if at := hugoPlace.FindStringSubmatch(m[1]); at != nil {
			n, _ := strconv.Atoi(at[2]) // digits
			b.errors = append(b.errors, buildError{path: filepath.ToSlash(at[1]), line: n, text: strings.TrimPrefix(strings.TrimPrefix(m[1], "Error building site: "), "error building site: ")})
		}
	}
	slices.Sort(b.notes)
	b.notes = slices.Compact(b.notes)
	slices.SortFunc(b.errors, func(x, y buildError) int {
		return cmp.Or(cmp.Compare(x.path, y.path), cmp.Compare(x.line, y.line), cmp.Compare(x.text, y.text))
	})
	return b
}

// failedBefore reports whether the site did not build before the launch. It
// builds a copy, in which the launch's changes are undone.
func failedBefore(ctx context.Context, in *Input) (bool, error) {
	dir := filepath.Join(in.Scratch, "before")
	if err := os.RemoveAll(dir); err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	changed := map[string]bool{}
	for _, name := range in.Changed {
		changed[name] = true
	}
	err := fs.WalkDir(in.Site.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		case !entry.Type().IsRegular() || changed[name]:
			return nil
		}
		raw, err := in.Site.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), raw, 0o644)
	})
	if err != nil {
		return false, err
	}
	for _, name := range in.Changed {
		if in.Before == nil || !fs.ValidPath(name) {
			continue
		}
		raw, err := in.Before(name)
		if errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.ArtifactNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
			return false, err
		}
	}
	b, err := build(ctx, in, dir, "")
	return !b.ok, err
}
