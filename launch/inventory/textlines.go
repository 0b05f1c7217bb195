package inventory

import (
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

// text is a file as lines, for manifests that are programs and are read as
// text: nothing in them is executed, and what is not a plain literal is absent.
type text []string

func textOf(data []byte) text {
	return strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
}

// first returns the first group of the first line that matches.
func (t text) first(pattern *lazyregexp.Regexp) dossier.Stated {
	for i, line := range t {
		if m := pattern.FindStringSubmatch(line); m != nil {
			return dossier.Stated{Value: m[1], Line: i + 1}
		}
	}
	return dossier.Stated{}
}

// all returns a dependency for each line that matches: the first group is the
// name, the second, if it took part, the version.
func (t text) all(pattern *lazyregexp.Regexp) []dossier.Dependency {
	var found []dossier.Dependency
	for i, line := range t {
		if m := pattern.FindStringSubmatch(line); m != nil {
			d := dossier.Dependency{Name: m[1], Line: i + 1}
			if len(m) > 2 {
				d.Version = strings.TrimSpace(m[2])
			}
			found = append(found, d)
		}
	}
	return found
}

// section returns the lines of the file with those outside [name] blanked, so
// that line numbers hold. It reads the headers of INI and TOML alike.
func (t text) section(name string) text {
	inside := make(text, len(t))
	current := ""
	for i, line := range t {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") && !strings.Contains(trimmed, ",") && !strings.ContainsAny(trimmed, `'"=`) {
			current = strings.TrimSpace(strings.Trim(trimmed, "[]"))
			continue
		}
		if current == name {
			inside[i] = line
		}
	}
	return inside
}

// lineOfKey returns the line of "key =" in a section, 0 if there is none.
func (t text) lineOfKey(section, key string) int {
	for i, line := range t.section(section) {
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return i + 1
		}
	}
	return 0
}

// lineWith returns the first line from start (1 is the first) that holds the
// text, or start.
func (t text) lineWith(start int, needle string) int {
	for i := max(start, 1) - 1; i < len(t); i++ {
		if strings.Contains(t[i], needle) {
			return i + 1
		}
	}
	return start
}
