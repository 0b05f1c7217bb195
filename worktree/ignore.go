package worktree

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/proc"
)

const (
	ignoreFile = ".gitignore"
	// A file of rules beyond either bound is not used, and said to be skipped.
	maxRuleBytes = 1 << 20
	maxRules     = 10000
)

// rules finds and keeps the ignore rules that hold in a tree. A file is read anew when
// its time, its size or its number has changed.
type rules struct {
	root string // of the project
	home string
	env  []string
	git  *git.Git

	mu     sync.Mutex
	parsed map[string]ruleFile // by absolute path
	asked  map[string]fs.FileInfo
	person string // the person's own file, as of asked
}

// ruleFile is a file as it was read; info is nil when it was not there.
type ruleFile struct {
	info     fs.FileInfo
	patterns []pattern
	skipped  bool
}

// keptRules is how many files are kept parsed.
const keptRules = 4096

func newRules(root string, env []string, g *git.Git) *rules {
	return &rules{root: root, home: proc.Getenv(env, "HOME"), env: env, git: g, parsed: map[string]ruleFile{}}
}

// ruleSet is the rules at one moment, for one question.
type ruleSet struct {
	*rules
	top     string      // folder that rules begin in: that of the repository, or the root
	base    [][]pattern // the person's and the repository's, from the weakest on
	skipped []string    // files that were not used, as a caller may see them
}

// at returns the rules as they are now.
func (r *rules) at(ctx context.Context) *ruleSet {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &ruleSet{rules: r, top: r.root}
	common := ""
	if top, dir, ok := repository(r.root); ok {
		s.top, common = top, dir
	}
	s.base = append(s.base, s.read(r.personal(ctx, common), "the person's own rules"))
	if common != "" {
		s.base = append(s.base, s.read(filepath.Join(common, "info", "exclude"), ".git/info/exclude"))
	}
	return s
}

// CommonDir returns the folder that the repository of a folder keeps for all of its work
// trees, "" when there is no repository.
func CommonDir(dir string) string {
	_, common, _ := repository(dir)
	return common
}

// repository returns the work tree that a folder is in, and the folder that its
// repository keeps for all of its work trees.
func repository(dir string) (top, common string, ok bool) {
	for {
		at := filepath.Join(dir, gitDir)
		if info, err := os.Lstat(at); err == nil && info.IsDir() {
			return dir, at, true
		} else if err == nil && info.Mode().IsRegular() {
			return dir, commonDir(dir), true
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return "", "", false
	}
}

// ownGitDir returns the folder that git keeps for the work tree at top alone.
func ownGitDir(top string) string {
	file := filepath.Join(top, gitDir)
	own, ok := strings.CutPrefix(firstLine(file), "gitdir: ")
	switch {
	case !ok:
		return file
	case filepath.IsAbs(own):
		return own
	}
	return filepath.Join(top, own)
}

// commonDir follows the .git file of a further work tree.
func commonDir(top string) string {
	own := ownGitDir(top)
	common := firstLine(filepath.Join(own, "commondir"))
	switch {
	case common == "":
		return own
	case filepath.IsAbs(common):
		return common
	}
	return filepath.Join(own, common)
}

func firstLine(file string) string {
	raw, err := readBounded(file, 4096)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(line)
}

// personal returns the path of the person's own rules, which git is asked for again when
// one of its configuration files has changed.
func (r *rules) personal(ctx context.Context, common string) string {
	config := proc.Getenv(r.env, "XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(r.home, ".config")
	}
	now := map[string]fs.FileInfo{}
	for _, file := range []string{filepath.Join(r.home, ".gitconfig"), filepath.Join(config, "git", "config"), filepath.Join(common, "config")} {
		now[file], _ = os.Stat(file)
	}
	if r.asked != nil && unchanged(r.asked, now) {
		return r.person
	}
	named := ""
	if r.git != nil {
		if said, err := r.git.ExcludesFile(ctx, r.root); err == nil {
			named = said
		}
	}
	if named == "" {
		named = filepath.Join(config, "git", "ignore")
	}
	r.asked, r.person = now, named
	return named
}

// outside returns the files of rules, and of what names them, that are not in the tree.
func (r *rules) outside(ctx context.Context) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	top, common, ok := repository(r.root)
	files := []string{r.personal(ctx, common)}
	for file := range r.asked {
		files = append(files, file)
	}
	if !ok {
		return files
	}
	files = append(files, filepath.Join(common, "info", "exclude"))
	for dir := r.root; dir != top; {
		dir = filepath.Dir(dir)
		files = append(files, filepath.Join(dir, ignoreFile))
	}
	return files
}

func unchanged(was, is map[string]fs.FileInfo) bool {
	for file, info := range is {
		old, known := was[file]
		if !known || !same(old, info) {
			return false
		}
	}
	return true
}

// same reports whether two looks found the same.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// read returns the patterns of a file, none if it is not there. A link is no file of
// rules, as it is none to git, unless it is the person's own.
func (s *ruleSet) read(file, shown string) []pattern {
	look := os.Lstat
	if filepath.Base(file) != ignoreFile {
		look = os.Stat
	}
	info, err := look(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	known, ok := s.parsed[file]
	if !ok || !same(known.info, info) {
		known = ruleFile{info: info, skipped: true}
		if info.Size() <= maxRuleBytes {
			raw, err := readBounded(file, maxRuleBytes)
			known.patterns = parsePatterns(string(raw))
			known.skipped = err != nil || len(known.patterns) > maxRules
		}
		if len(s.parsed) >= keptRules {
			clear(s.parsed)
		}
		s.parsed[file] = known
	}
	if known.skipped {
		s.skipped = append(s.skipped, shown)
		return nil
	}
	return known.patterns
}

// readBounded returns the first bytes of a file.
func readBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// inFolder is what holds in one folder.
type inFolder struct {
	set     *ruleSet
	rel     string      // relative to the top; "" for the top itself
	layers  [][]pattern // of the files from the top down to the folder
	depths  []int       // how much of rel each layer's folder is, in bytes
	ignored bool        // the folder itself is
}

// folder returns the rules of a folder of the project, given relative to its root.
func (s *ruleSet) folder(rel string) *inFolder {
	in := (&inFolder{set: s}).ruled()
	within, err := filepath.Rel(s.top, filepath.Join(s.root, filepath.FromSlash(rel)))
	if err != nil || within == "." {
		return in
	}
	for name := range strings.SplitSeq(filepath.ToSlash(within), "/") {
		in = in.below(name).ruled()
	}
	return in
}

// below returns the rules of a folder in the folder, without those of a file in it.
func (in *inFolder) below(name string) *inFolder {
	return &inFolder{set: in.set, rel: path.Join(in.rel, name), layers: in.layers, depths: in.depths, ignored: in.ignores(name, true)}
}

// ruled adds the rules of the file in the folder itself, if it has one.
func (in *inFolder) ruled() *inFolder {
	if in.ignored {
		return in
	}
	file := path.Join(in.rel, ignoreFile)
	in.set.mu.Lock()
	own := in.set.read(filepath.Join(in.set.top, filepath.FromSlash(file)), file)
	in.set.mu.Unlock()
	if len(own) > 0 {
		in.layers = append(in.layers[:len(in.layers):len(in.layers)], own)
		in.depths = append(in.depths[:len(in.depths):len(in.depths)], len(in.rel))
	}
	return in
}

// ignores reports whether git ignores a name in the folder: the last line that speaks of
// it decides, in the nearest file that has one. What is in an ignored folder is ignored
// whatever is said of it.
func (in *inFolder) ignores(name string, folder bool) bool {
	if in.ignored {
		return true
	}
	full := path.Join(in.rel, name)
	for i := len(in.layers) - 1; i >= 0; i-- {
		if said, spoke := judge(in.layers[i], strings.TrimPrefix(full[in.depths[i]:], "/"), folder); spoke {
			return said
		}
	}
	for i := len(in.set.base) - 1; i >= 0; i-- {
		if said, spoke := judge(in.set.base[i], full, folder); spoke {
			return said
		}
	}
	return false
}

// judge returns what the patterns of one file say of a path, and whether they do.
func judge(patterns []pattern, rel string, folder bool) (ignored, spoke bool) {
	for i := len(patterns) - 1; i >= 0; i-- {
		if patterns[i].matches(rel, folder) {
			return !patterns[i].again, true
		}
	}
	return false, false
}
