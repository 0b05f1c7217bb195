package targets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is read. What exceeds one is a problem of its file.
const (
	maxFile        = 1 << 20  // bytes of a definition file
	maxFiles       = 2000     // files that are read for one folder
	maxTotal       = 16 << 20 // bytes of them all
	maxName        = 256      // bytes of a target's name
	maxDescription = 200      // characters that are kept of a description
	maxCommand     = 1000     // characters that are kept of a command with its hooks
	maxTargets     = 5000     // of one kind in one folder
	maxProblems    = 50       // of one kind in one folder
	maxNesting     = 500      // brackets open at a time, which parsers descend into
)

var (
	errTooLarge   = fmt.Errorf("the file is larger than %d bytes", maxFile)
	errNotRegular = errors.New("it is not a regular file")
	errNotText    = errors.New("the file is not UTF-8 text")
	errTooDeep    = errors.New("the file nests too deeply")
	errTooMany    = fmt.Errorf("more than %d files, or %d bytes, are to be read for one folder", maxFiles, maxTotal)
)

// folder is the folder that is being looked at, and what was found in it.
type folder struct {
	root  *os.Root
	dir   string // relative to the root, slash separated
	trace *trace
	names []string                              // of the files in the folder, sorted
	ended func() error                          // why to stop looking; nil while not
	dump  func(justfile string) ([]byte, error) // asks just; nil: it may not be asked

	files, bytes int // that were read
	targets      []Target
	problems     []Problem

	// Where the targets and problems of the current runner begin: each has bounds of its
	// own, so that one file full of targets hides no other.
	firstTarget, firstProblem int
	full                      bool
}

// openFolder lists a folder under the root. The error is the root's.
func openFolder(ctx context.Context, root *os.Root, dir string, tr *trace) (*folder, error) {
	f := &folder{root: root, dir: dir, trace: tr, ended: ctx.Err}
	names, err := f.entries(".")
	f.names = names
	return f, err
}

// below returns a path of this folder as one of the root.
func (f *folder) below(name string) string { return path.Join(f.dir, name) }

// entries returns the sorted names of the files in a folder of this one.
func (f *folder) entries(dir string) ([]string, error) {
	at := f.below(dir)
	f.trace.saw(f.root, at)
	d, err := f.root.OpenFile(at, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// has reports whether the folder has an entry of the name, in this very case.
func (f *folder) has(name string) bool {
	_, ok := slices.BinarySearch(f.names, name)
	return ok
}

// source is a definition file that was read.
type source struct {
	path string // relative to the root
	text string // with LF line ends and without a byte order mark
	sum  string // sha256, in hex
}

// first reads the first of the names that exists. When it cannot be read, that is the
// file's problem, and the other names are not tried: the tool would not either.
func (f *folder) first(names ...string) (source, bool) {
	for _, name := range names {
		if f.has(name) {
			return f.read(name)
		}
	}
	return source{}, false
}

// read reads a file of this folder; that it cannot be read is the file's problem.
func (f *folder) read(name string) (source, bool) {
	s, err := f.load(f.below(name))
	if err != nil {
		f.report(f.below(name), Error, "%s", sentence(err))
		return source{}, false
	}
	return s, true
}

// load reads a file by its path from the root. A pipe or a device is refused without
// waiting for it.
func (f *folder) load(p string) (source, error) {
	if err := f.ended(); err != nil {
		return source{}, err
	}
	f.trace.saw(f.root, p)
	if f.files++; f.files > maxFiles || f.bytes > maxTotal {
		return source{}, errTooMany
	}
	file, err := f.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return source{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return source{}, err
	case !info.Mode().IsRegular():
		return source{}, errNotRegular
	case info.Size() > maxFile:
		return source{}, errTooLarge
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	f.bytes += len(raw)
	switch {
	case err != nil:
		return source{}, err
	case len(raw) > maxFile:
		return source{}, errTooLarge
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return source{}, errNotText
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return source{path: p, text: text, sum: digest(string(raw))}, nil
}

// shallow reads a file of this folder whose parser descends into brackets and dashes.
func (f *folder) shallow(s source, ok bool) (source, bool) {
	if ok && deep(s.text) {
		f.report(s.path, Error, "%s", sentence(errTooDeep))
		return s, false
	}
	return s, ok
}

// deep reports whether brackets, or the dashes of a YAML list in one line, nest further
// than a parser should be asked to follow.
func deep(text string) bool {
	open := 0
	for line := range strings.Lines(text) {
		if strings.Count(line, "- ")+strings.Count(line, "? ") > maxNesting {
			return true
		}
	}
	for _, c := range []byte(text) {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		}
		if open > maxNesting {
			return true
		}
	}
	return false
}

// begin says that another runner looks at the folder.
func (f *folder) begin() {
	f.firstTarget, f.firstProblem, f.full = len(f.targets), len(f.problems), false
}

// report adds a problem of a file.
func (f *folder) report(p string, s Severity, format string, args ...any) {
	if len(f.problems)-f.firstProblem < maxProblems {
		f.problems = append(f.problems, Problem{FilePath: printable(p), Severity: s, Message: clip(printable(fmt.Sprintf(format, args...)), maxDescription)})
	}
}

// add adds a target that a file defines. One whose name no command line can carry is
// left out with a warning.
func (f *folder) add(s source, t Target) {
	switch {
	case t.Name == "" || len(t.Name) > maxName || printable(t.Name) != t.Name || strings.TrimSpace(t.Name) != t.Name:
		f.report(s.path, Warning, "the name %s cannot be used and is left out", clip(t.Name, 40))
		return
	case strings.HasPrefix(t.Name, "-"):
		f.report(s.path, Warning, "%s is left out: its tool would take the name for an option", clip(t.Name, 40))
		return
	case len(f.targets)-f.firstTarget >= maxTargets:
		if !f.full {
			f.report(s.path, Warning, "only the first %d targets are listed", maxTargets)
		}
		f.full = true
		return
	}
	if t.SourceName == "" {
		t.SourceName = t.Name
	}
	if t.Command == "" {
		t.Command = display(t.Argv)
	}
	if t.invoked == "" {
		t.invoked = s.path
	}
	t.Runner, t.Dir, t.FilePath, t.Source = t.tool.Name, f.dir, s.path, s.sum
	if t.suffix == "" {
		t.suffix = t.Runner
	}
	t.Description = clip(strings.Join(strings.Fields(printable(t.Description)), " "), maxDescription)
	t.Command = clip(printable(t.Command), maxCommand)
	f.targets = append(f.targets, t)
}

// digest returns the sha256 of parts, in hex. No two lists of parts look the same.
func digest(parts ...string) string {
	h := sha256.New()
	for i, p := range parts {
		if i > 0 {
			fmt.Fprintf(h, "\x00%d\x00", len(p))
		}
		io.WriteString(h, p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sentence says why a file cannot be used, without its path.
func sentence(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the file does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "the file may not be read"
	case errors.Is(err, syscall.ELOOP):
		return "the links of the path go in a circle"
	case escapes(err):
		return "the path leads out of the project's root"
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return "the file cannot be read"
	}
	return err.Error()
}

// escapes reports whether os.Root refused a path; it has no value for that.
func escapes(err error) bool { return strings.Contains(err.Error(), "path escapes") }

// printable replaces what would not show, or show as something else.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != ' ' {
			return '\uFFFD'
		}
		return r
	}, strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, text))
}

// clip shortens a text to a number of characters.
func clip(text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	return string([]rune(text)[:characters-1]) + "…"
}

// relative returns how a path looks from a folder; both start at the same root.
func relative(dir, p string) string {
	from, to := parts(dir), parts(p)
	for len(from) > 0 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return path.Join(append(slices.Repeat([]string{".."}, len(from)), to...)...)
}

func parts(p string) []string {
	if p == "." || p == "" {
		return nil
	}
	return strings.Split(p, "/")
}
