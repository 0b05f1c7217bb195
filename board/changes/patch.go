package changes

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// Patch returns the changes of the paths. It is blocked when one of them is no path of a
// worktree, when there are more than [MaxPaths], when more is asked for than [MaxPatch],
// when the changes exceed the guard and force does not lift it, and when git cannot compare.
// A path that has no changes adds nothing.
func (r *Reader) Patch(ctx context.Context, trees []Worktree, q PatchRequest) (Patch, error) {
	max := q.MaxBytes
	switch {
	case len(q.Paths) == 0:
		return Patch{}, fault.New(fault.MissingRequired, "paths is empty").WithHint("take paths from get_attempt_changes")
	case max < 0:
		return Patch{}, fault.New(fault.InvalidInput, "max_bytes is negative")
	case max == 0:
		max = DefaultPatch
	case max > MaxPatch:
		return Patch{Blocked: true, Reason: SizeExceeded}, nil
	}
	if len(q.Paths) > MaxPaths {
		return Patch{Blocked: true, Reason: TooManyPaths}, nil
	}
	asked := make([][]string, len(trees))
	for _, p := range q.Paths {
		i, rest, ok := locate(trees, p)
		if !ok {
			return Patch{Blocked: true, Reason: PathOutsideWorkspace}, nil
		}
		asked[i] = append(asked[i], rest)
	}
	return r.patch(ctx, trees, asked, q.Force, max)
}

// patch asks each worktree for the paths that are asked of it, in the order of their names.
func (r *Reader) patch(ctx context.Context, trees []Worktree, asked [][]string, force bool, max int) (Patch, error) {
	specs := make([]git.DiffSpec, len(trees))
	var chosen []FileChange
	for i, t := range trees {
		if asked[i] == nil {
			continue
		}
		files, spec, err := r.changed(ctx, t)
		if err := ctx.Err(); err != nil {
			return Patch{}, err
		}
		if err != nil {
			return Patch{Blocked: true, Reason: SummaryFailed}, nil
		}
		files, spec.Paths = choose(files, asked[i])
		chosen, specs[i] = append(chosen, files...), spec
	}
	if !force && r.guard.exceeded(summarize(chosen)) {
		return Patch{Blocked: true, Reason: ThresholdExceeded}, nil
	}
	var text strings.Builder
	more := false
	for _, i := range byName(trees) {
		if len(specs[i].Paths) == 0 || more {
			continue
		}
		part, cut, err := r.git.DiffText(ctx, trees[i].Dir, specs[i], max-text.Len())
		if err != nil {
			return Patch{}, err
		}
		part = part[:whole(part, cut)]
		valid, longer := fit(renamed(strings.ToValidUTF8(string(part), "\uFFFD"), trees[i].Name), max-text.Len())
		text.WriteString(valid)
		more = cut || longer
	}
	return Patch{Text: text.String(), Bytes: text.Len(), Truncated: more}, nil
}

// renames matches where a patch says what a renamed file was called and is called: no line of
// a file begins so, since each has a mark in front.
var renames = lazyregexp.New(`(?m)^(?:rename|copy) (?:from|to) "?`)

// renamed puts the name of the worktree in front of the paths of renamed files, where git
// leaves out the prefix that it is given.
func renamed(patch, name string) string {
	return renames.ReplaceAllString(patch, "${0}"+strings.ReplaceAll(name, "$", "$$")+"/")
}

func byName(trees []Worktree) []int {
	order := make([]int, len(trees))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(trees[a].Name, trees[b].Name) })
	return order
}

// choose returns the changes at or under the paths, and the paths that git needs to show
// them: those that were asked for, and where renamed files come from and went to. Without a
// change there is no path.
func choose(files []FileChange, asked []string) (chosen []FileChange, paths []string) {
	under := func(file string) bool {
		return file != "" && slices.ContainsFunc(asked, func(p string) bool { return p == "." || file == p || strings.HasPrefix(file, p+"/") })
	}
	for _, f := range files {
		if !under(f.path) && !under(f.from) {
			continue
		}
		if chosen = append(chosen, f); f.from != "" {
			paths = append(paths, f.from, f.path)
		}
	}
	if len(chosen) == 0 {
		return nil, nil
	}
	return chosen, append(paths, asked...)
}

// locate splits a path into the worktree that it belongs to and what is left, clean. ok is
// false for a path of none, and for one into git's own files.
func locate(trees []Worktree, p string) (tree int, rest string, ok bool) {
	name, rest, ok := strings.Cut(p, "/")
	tree = slices.IndexFunc(trees, func(t Worktree) bool { return t.Name == name })
	if !ok || tree < 0 || rest == "" || rest[0] == '/' || strings.ContainsRune(rest, 0) {
		return 0, "", false
	}
	for part := range strings.SplitSeq(rest, "/") {
		if part == ".." || strings.EqualFold(part, ".git") {
			return 0, "", false
		}
	}
	return tree, path.Clean(rest), true
}

// whole returns how many bytes of a text end with a whole character, when the text was cut.
func whole(text []byte, cut bool) int {
	if !cut {
		return len(text)
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// fit cuts a text that is valid UTF-8 to at most so many bytes.
func fit(text string, max int) (string, bool) {
	if len(text) <= max {
		return text, false
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max], true
}
