package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Status is the state of a work tree.
type Status struct {
	Head     string // the commit, empty when there is none yet
	Branch   string // empty when detached
	Upstream string // such as origin/main, empty without one
	Ahead    int    // commits that the upstream lacks
	Behind   int    // commits of the upstream that are not here
	Entries  []StatusEntry
}

// StatusEntry is a file that is not as in the last commit.
type StatusEntry struct {
	Path     string // from the top of the repository, with slashes; may hold any byte but NUL
	Index    byte   // how the index differs from the commit: M T A D U, '.' for not, '?' untracked
	WorkTree byte   // how the work tree differs from the index, likewise
}

// Clean reports whether everything is as in the last commit.
func (s Status) Clean() bool { return len(s.Entries) == 0 }

// Status returns the state of the work tree in dir, untracked files one by one and
// ignored ones left out. Tracked files come first, each group in git's order by path. A
// submodule that is at another commit is an entry; what changed inside it is not looked at.
func (g *Git) Status(ctx context.Context, dir string) (Status, error) {
	out, err := g.runTree(ctx, in(dir, "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames", ignoreDirt, "--ahead-behind"))
	if err != nil {
		return Status{}, err
	}
	var s Status
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if err := s.take(line); err != nil {
			return Status{}, err
		}
	}
	return s, nil
}

// take reads one record of the porcelain format, version 2. How many fields stand
// before the path depends on the kind.
func (s *Status) take(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	before := map[string]int{"1": 7, "u": 9}
	switch kind {
	case "#":
		s.takeHeader(rest)
	case "?":
		s.Entries = append(s.Entries, StatusEntry{Path: rest, Index: '?', WorkTree: '?'})
	case "1", "u":
		fields := strings.SplitN(rest, " ", before[kind]+1)
		if len(fields) != before[kind]+1 || len(fields[0]) != 2 {
			return fmt.Errorf("git status printed %q", line)
		}
		s.Entries = append(s.Entries, StatusEntry{Path: fields[before[kind]], Index: fields[0][0], WorkTree: fields[0][1]})
	case "":
	default:
		return fmt.Errorf("git status printed %q", line)
	}
	return nil
}

func (s *Status) takeHeader(header string) {
	key, value, _ := strings.Cut(header, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			s.Head = value
		}
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
	}
}
