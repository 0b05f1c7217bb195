package patch

import (
	"path"
	"strings"
	"unicode/utf8"
)

const maxPath = 1024 // bytes; longer than any page's path, shorter than PATH_MAX

// Allowed reports whether a patch may touch the path.
//
// The path must be clean, relative and use forward slashes: no empty, "." or
// ".." segment, no NUL or backslash, at most 1,024 bytes of UTF-8. A segment
// that is .git in any case is never allowed. Nothing is decoded.
//
// A pattern is a path in which "*" stands for any run of characters within one
// segment and a segment "**" for any number of segments, at least one when it
// is the last. Neither matches a name that begins with a dot: such names must be
// spelled out. A pattern that is not a clean path itself allows nothing.
func Allowed(name string, patterns []string) bool {
	if !clean(name) || inGit(name) {
		return false
	}
	segments := strings.Split(name, "/")
	for _, pattern := range patterns {
		if clean(pattern) && matchSegments(strings.Split(pattern, "/"), segments) {
			return true
		}
	}
	return false
}

func clean(name string) bool {
	return name != "" && name != "." && len(name) <= maxPath && utf8.ValidString(name) &&
		!strings.ContainsAny(name, "\x00\\") && !strings.HasPrefix(name, "/") &&
		path.Clean(name) == name && name != ".." && !strings.HasPrefix(name, "../")
}

// inGit reports whether a segment names git's own folder, also as file systems
// that fold case or drop trailing dots and spaces would read it.
func inGit(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		folded := strings.ToLower(strings.TrimRight(segment, ". "))
		if folded == ".git" || folded == "git~1" {
			return true
		}
	}
	return false
}

// matchSegments walks all ways to match at once, so that no pattern is slow:
// at[i] says that pattern[:i] matches the segments read so far.
func matchSegments(pattern, segments []string) bool {
	at := make([]bool, len(pattern)+1)
	at[0] = true
	skipEmpty(at, pattern)
	for _, segment := range segments {
		next := make([]bool, len(pattern)+1)
		for i, p := range pattern {
			if !at[i] {
				continue
			}
			if p == "**" && !strings.HasPrefix(segment, ".") {
				next[i] = true
				if i == len(pattern)-1 {
					next[i+1] = true
				}
			}
			if p != "**" && matchSegment(p, segment) {
				next[i+1] = true
			}
		}
		skipEmpty(next, pattern)
		at = next
	}
	return at[len(pattern)]
}

// skipEmpty lets a "**" that is not the last segment match nothing.
func skipEmpty(at []bool, pattern []string) {
	for i := 0; i+1 < len(pattern); i++ {
		if at[i] && pattern[i] == "**" {
			at[i+1] = true
		}
	}
}

// matchSegment matches one segment; only "*" is special.
func matchSegment(pattern, segment string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == segment
	}
	if strings.HasPrefix(segment, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(segment) < len(first)+len(last) || !strings.HasPrefix(segment, first) || !strings.HasSuffix(segment, last) {
		return false
	}
	rest := segment[len(first) : len(segment)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return true
}
