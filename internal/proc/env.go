package proc

import (
	"slices"
	"strings"
)

// baseNames are the variables that every program may expect.
var baseNames = []string{
	"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TRACEPARENT", "TRACESTATE", "TZ", "USER",
}

// BaseEnv returns what a supervised process inherits of an environment: the
// variables that every program may expect, LC_*, XDG_*, and the trace that it is
// part of. No secret travels in these. What else a process needs, its caller adds.
// The result is sorted by name, and each name is in it once, with its last value.
func BaseEnv(environ []string) []string {
	values := map[string]string{}
	for _, v := range environ {
		name, _, ok := strings.Cut(v, "=")
		if ok && (slices.Contains(baseNames, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")) {
			values[name] = v
		}
	}
	var base []string
	for _, v := range values {
		base = append(base, v)
	}
	slices.Sort(base)
	return base
}
