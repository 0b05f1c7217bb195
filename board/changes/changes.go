// Package changes reads what an attempt changed: the list of files, patches, and pieces of
// files, each within bounds.
//
// An attempt has one worktree or several, each of a repository with a name; paths are
// "<name>/<path in the repository>" always. Changes are what stands in a worktree now,
// committed or not, and the files in it that are neither tracked nor ignored, against the
// merge base with the branch that the work is meant for.
//
// Bounds do not fail: what is too large is blocked, with the reason, or cut, and says so.
// Links are never followed out of a worktree, and nothing of a repository runs.
package changes

import (
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/git"
)

// Worktree is a repository of an attempt.
type Worktree struct {
	Name   string // first part of its paths
	Dir    string // absolute
	Target string // branch that the work is meant for
	Base   string // commit to compare with when the branch is gone
}

// Guard bounds a list of changes; what exceeds any one of the bounds is blocked. A
// negative bound does not bound.
type Guard struct {
	Files int
	Lines int   // added and deleted
	Bytes int64 // of the changed files
}

// Safe returns a guard for small contexts.
func Safe() Guard { return Guard{200, 10_000, 20 << 20} }

// Balanced returns the guard that is used when none is chosen.
func Balanced() Guard { return Guard{500, 25_000, 50 << 20} }

// Relaxed returns a guard for large contexts.
func Relaxed() Guard { return Guard{1000, 60_000, 150 << 20} }

// Off returns a guard that blocks nothing.
func Off() Guard { return Guard{-1, -1, -1} }

// Preset returns the guard of a name: safe, balanced, relaxed or off.
func Preset(name string) (Guard, error) {
	switch name {
	case "safe":
		return Safe(), nil
	case "balanced":
		return Balanced(), nil
	case "relaxed":
		return Relaxed(), nil
	case "off":
		return Off(), nil
	}
	return Guard{}, fault.New(fault.InvalidInput, "%.40q is no diff guard", name).WithHint("use safe, balanced, relaxed or off")
}

// exceeded reports whether the changes are more than the guard allows.
func (g Guard) exceeded(s Summary) bool {
	return g.Files >= 0 && s.FileCount > g.Files || g.Lines >= 0 && s.Added+s.Deleted > g.Lines || g.Bytes >= 0 && s.TotalBytes > g.Bytes
}

// Reason says why something is blocked.
type Reason string

// The reasons.
const (
	SummaryFailed        Reason = "summary_failed"         // git could not compare
	ThresholdExceeded    Reason = "threshold_exceeded"     // the guard; force lifts it
	PathOutsideWorkspace Reason = "path_outside_workspace" // no path of a worktree of the attempt
	SizeExceeded         Reason = "size_exceeded"          // more was asked for than is ever given
	TooManyPaths         Reason = "too_many_paths"
)

// Summary counts changes. Bytes are those of the changed files as they are now, and of
// deleted ones as they were.
type Summary struct {
	FileCount  int
	Added      int // lines
	Deleted    int
	TotalBytes int64
}

// FileChange is a file that changed.
type FileChange struct {
	Path    string // "<name>/<path>"; bytes that are not UTF-8 stand as U+FFFD
	OldPath string // of a renamed file, else ""
	Status  string // added, modified, deleted, renamed, typechange, unmerged
	OldMode string // such as 100644; "" for an added file
	NewMode string // "" for a deleted file; 120000 is a link, 160000 a submodule
	Added   int    // lines
	Deleted int
	Binary  bool // no lines are counted: it holds NUL bytes, or more than 16 MiB
	Bytes   int64

	path, from string // in the worktree, as they are
}

// List is what changed.
type List struct {
	Summary Summary
	Blocked bool // Files is empty, because of Reason
	Reason  Reason
	Files   []FileChange // by path
}

// PatchRequest asks for a patch.
type PatchRequest struct {
	Paths    []string // "<name>/<path>" of files or folders, at least one; "<name>/." is all of a worktree
	Force    bool     // lift the guard
	MaxBytes int      // DefaultPatch when 0; more than MaxPatch is blocked
}

// Patch is a patch that git apply takes at the top of the attempt's folder, but for binary
// files, which it only names.
type Patch struct {
	Text      string // valid UTF-8; cut at the end of a character
	Bytes     int    // of Text
	Truncated bool
	Blocked   bool
	Reason    Reason
}

// FileRequest asks for a piece of a file.
type FileRequest struct {
	Path     string // "<name>/<path>"
	Start    int64  // byte; beyond the end there is nothing, and no error
	MaxBytes int    // DefaultFile when 0; more than MaxFile is blocked
}

// File is a piece of a file.
type File struct {
	Text      string // bytes that are not UTF-8 stand as U+FFFD
	Start     int64
	Bytes     int   // how many of the file the text stands for
	Size      int64 // of the file
	Truncated bool  // the file goes on at Start+Bytes
	Blocked   bool
	Reason    Reason
}

// Limits of what is given at once.
const (
	DefaultPatch = 200 << 10
	MaxPatch     = 2 << 20
	MaxPaths     = 100
	DefaultFile  = 64 << 10
	MaxFile      = 512 << 10
)

// Reader reads changes. It is safe for concurrent use.
type Reader struct {
	git   *git.Git
	guard Guard
}

// New returns a Reader.
func New(g *git.Git, guard Guard) *Reader { return &Reader{g, guard} }
