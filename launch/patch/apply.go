package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// Result says what applying a bundle did.
type Result struct {
	Applied        []string // ids of the patches that changed something, in bundle order
	AlreadyApplied []string // ids of those whose outcome was there before
	Changes        []Change // the files written or removed, by path
}

// Change is what happened to one file. Added and Removed count lines between
// the first and the last that differ.
type Change struct {
	Path    string
	Created bool
	Deleted bool
	Added   int
	Removed int
}

// Conflict is one patch that cannot be applied, and why.
type Conflict struct {
	PatchID string `json:"patch_id"`
	Path    string `json:"path"`
	Reason  string `json:"reason"`
}

// Apply makes the bundle's changes under root. See the package comment for what
// it promises. Only the budgets on files and lines are looked at; zero is no
// limit.
//
// It fails, having written nothing, with ALLOWED_PATHS_VIOLATION, with
// LINKER_PATCH_CONFLICT, or with POLICY_CHANGE_BUDGET_EXCEEDED; the first two
// list every [Conflict] in their details. If the disk fails while files are
// written the error is INTERNAL and applying the bundle again finishes the work.
func Apply(root *os.Root, allowed []string, bundle dossier.PatchBundle, budgets dossier.Budgets) (Result, error) {
	result, after, err := prepare(root, allowed, bundle, budgets)
	if err != nil {
		return Result{}, err
	}
	for _, c := range result.Changes {
		if err := write(root, c.Path, after[c.Path]); err != nil {
			return Result{}, fault.New(fault.Internal, "cannot write %s to the site", c.Path).Because(err)
		}
	}
	return result, nil
}

// Rehearse is [Apply] that writes nothing: it returns what Apply would.
func Rehearse(root *os.Root, allowed []string, bundle dossier.PatchBundle, budgets dossier.Budgets) (Result, error) {
	result, _, err := prepare(root, allowed, bundle, budgets)
	return result, err
}

// prepare checks the bundle and returns what each file becomes.
func prepare(root *os.Root, allowed []string, bundle dossier.PatchBundle, budgets dossier.Budgets) (Result, map[string]content, error) {
	if err := checkPaths(root, allowed, bundle.Patches); err != nil {
		return Result{}, nil, err
	}
	result, after, err := rehearse(root, bundle.Patches)
	if err == nil {
		err = checkBudgets(result.Changes, budgets)
	}
	if err != nil {
		return Result{}, nil, err
	}
	return result, after, nil
}

// checkPaths refuses the bundle if any path is not allowed or leads through a link.
func checkPaths(root *os.Root, allowed []string, patches []dossier.Patch) error {
	var refused []Conflict
	for _, p := range patches {
		reason := ""
		if !Allowed(p.Path, allowed) {
			reason = "outside allowed_paths"
		} else if err := refuseLinks(root, p.Path); err != nil {
			reason = err.Error()
		}
		if reason != "" {
			refused = append(refused, Conflict{p.ID, shorten(p.Path), reason})
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return fault.New(fault.AllowedPathsViolation, "%d of %d changes are not allowed, first %q: %s; nothing was written",
		len(refused), len(patches), refused[0].Path, refused[0].Reason).
		WithHint("Change only files that allowed_paths names, or name this one there.").WithDetails(refused)
}

// rehearse carries the patches out in memory and returns what each file becomes.
func rehearse(root *os.Root, patches []dossier.Patch) (Result, map[string]content, error) {
	var result Result
	var conflicts []Conflict
	before, after := map[string]content{}, map[string]content{}
	for path, group := range byPath(patches) {
		now, err := load(root, path)
		if err != nil {
			conflicts = append(conflicts, Conflict{group[0].ID, path, err.Error()})
			continue
		}
		before[path], after[path] = now, now
		if settled(now, group) {
			continue
		}
		for _, p := range group {
			next, err := step(after[path], p)
			if err != nil {
				conflicts = append(conflicts, Conflict{p.ID, path, err.Error()})
				continue
			}
			if next != after[path] {
				result.Applied = append(result.Applied, p.ID)
			}
			after[path] = next
		}
	}
	if len(conflicts) > 0 {
		return Result{}, nil, conflictFault(conflicts, patches)
	}
	result.Applied, result.AlreadyApplied = inOrder(patches, result.Applied)
	result.Changes = changes(before, after)
	return result, after, nil
}

// settled reports whether the file is what a chain that begins by creating it
// ends in: then every patch of the chain was applied before, although the file
// no longer equals what the first one brought.
func settled(now content, group []dossier.Patch) bool {
	if group[0].Type != dossier.CreateFile || len(group) == 1 {
		return false
	}
	end := content{}
	for _, p := range group {
		next, err := step(end, p)
		if err != nil {
			return false
		}
		end = next
	}
	return end == now
}

func checkBudgets(changes []Change, budgets dossier.Budgets) error {
	limit := budgets.MaxFilesChanged
	if budgets.MaxFileWrites > 0 && (limit == 0 || budgets.MaxFileWrites < limit) {
		limit = budgets.MaxFileWrites
	}
	if limit > 0 && len(changes) > limit {
		return fault.New(fault.ChangeBudgetExceeded, "the bundle changes %d files and the budget is %d; nothing was written", len(changes), limit).
			WithHint("Raise budgets.max_files_changed and budgets.max_file_writes, or plan fewer pages with a lower launch_tier.")
	}
	for _, c := range changes {
		if lines := max(c.Added, c.Removed); budgets.MaxLinesPerFile > 0 && lines > budgets.MaxLinesPerFile {
			return fault.New(fault.ChangeBudgetExceeded, "%s changes by %d lines and the budget is %d; nothing was written", c.Path, lines, budgets.MaxLinesPerFile).
				WithHint("Raise budgets.max_lines_per_file.")
		}
	}
	return nil
}

// content is the state of one file: absent, or text.
type content struct {
	exists bool
	text   string
}

func load(root *os.Root, path string) (content, error) {
	raw, err := readRegular(root, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}, nil
	case errors.Is(err, errNotRegular), errors.Is(err, errTooLarge):
		return content{}, err
	case err != nil:
		return content{}, errors.New("cannot be read")
	}
	return content{true, string(raw)}, nil
}

// byPath yields the patches of each path, paths in the order of their first patch.
func byPath(patches []dossier.Patch) func(yield func(string, []dossier.Patch) bool) {
	groups := map[string][]dossier.Patch{}
	var order []string
	for _, p := range patches {
		if groups[p.Path] == nil {
			order = append(order, p.Path)
		}
		groups[p.Path] = append(groups[p.Path], p)
	}
	return func(yield func(string, []dossier.Patch) bool) {
		for _, path := range order {
			if !yield(path, groups[path]) {
				return
			}
		}
	}
}

// inOrder splits the ids of the patches into those applied and the others, in bundle order.
func inOrder(patches []dossier.Patch, applied []string) (did, didNot []string) {
	for _, p := range patches {
		if slices.Contains(applied, p.ID) {
			did = append(did, p.ID)
		} else {
			didNot = append(didNot, p.ID)
		}
	}
	return did, didNot
}

func conflictFault(conflicts []Conflict, patches []dossier.Patch) error {
	at := map[string]int{}
	for i, p := range patches {
		at[p.ID] = i
	}
	slices.SortStableFunc(conflicts, func(a, b Conflict) int { return at[a.PatchID] - at[b.PatchID] })
	return fault.New(fault.PatchConflict, "%d of %d changes do not fit the site, first %s: %s; nothing was written",
		len(conflicts), len(patches), conflicts[0].Path, conflicts[0].Reason).
		WithHint("Someone changed the site since it was cloned: start a new run, or move the file that is in the way.").WithDetails(conflicts)
}

func changes(before, after map[string]content) []Change {
	var list []Change
	for path, now := range after {
		was := before[path]
		if now == was {
			continue
		}
		old, new := splitLines(was.text), splitLines(now.text)
		head := commonHead(old, new)
		tail := commonTail(old[head:], new[head:])
		list = append(list, Change{
			Path: path, Created: !was.exists, Deleted: !now.exists,
			Added: len(new) - head - tail, Removed: len(old) - head - tail,
		})
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// shorten bounds a hostile path in a message.
func shorten(path string) string {
	if len(path) <= 128 {
		return path
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(path[:128], ""), len(path))
}
