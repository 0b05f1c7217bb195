package patch

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/launch/dossier"
)

var (
	errNoFrontmatter   = errors.New("the file has no front matter")
	errJSONFrontmatter = errors.New("front matter in JSON cannot be edited by key")
	errKey             = errors.New("a front matter key must be a plain word")
	errValue           = errors.New("a front matter value must be one YAML scalar or flow list on one line")

	keyForm = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
)

// setFrontmatter sets keys in YAML (---) or TOML (+++) front matter. Lines of
// other keys and the body stay byte for byte; new keys go last, by name.
func setFrontmatter(text string, p dossier.Patch) (string, error) {
	if len(p.FrontmatterUpdates) == 0 {
		return "", errNothing
	}
	lines := splitLines(text)
	fence, end, err := frontmatterBounds(lines)
	if err != nil {
		return "", err
	}
	block := slices.Clone(lines[1:end])
	eol := lineEnd(lines[0])
	for _, key := range slices.Sorted(maps.Keys(p.FrontmatterUpdates)) {
		line, err := renderKey(fence, key, p.FrontmatterUpdates[key])
		if err != nil {
			return "", err
		}
		block = setKey(block, fence, key, line+eol)
	}
	return lines[0] + strings.Join(block, "") + strings.Join(lines[end:], ""), nil
}

// frontmatterBounds returns the fence and the index of the closing fence's line.
func frontmatterBounds(lines []string) (fence string, end int, err error) {
	if len(lines) == 0 {
		return "", 0, errNoFrontmatter
	}
	fence = strings.TrimRight(strings.TrimPrefix(lines[0], "\ufeff"), " \t\r\n")
	if fence == "{" {
		return "", 0, errJSONFrontmatter
	}
	if fence != "---" && fence != "+++" {
		return "", 0, errNoFrontmatter
	}
	for i, line := range lines[1:] {
		if strings.TrimRight(line, " \t\r\n") == fence {
			return fence, i + 1, nil
		}
	}
	return "", 0, errNoFrontmatter
}

// setKey replaces the key's line, and those that continue its value, or adds it:
// at the end in YAML, before the first table in TOML.
func setKey(block []string, fence, key, line string) []string {
	limit := len(block)
	if fence == "+++" {
		limit = firstTable(block)
	}
	for i := 0; i < limit; i++ {
		if !startsKey(block[i], fence, key) {
			continue
		}
		last := i + 1
		for last < limit && continues(block[last], fence) {
			last++
		}
		for last > i+1 && strings.TrimSpace(block[last-1]) == "" {
			last-- // blank lines belong to what follows
		}
		return slices.Concat(block[:i], []string{line}, block[last:])
	}
	return slices.Insert(block, limit, line)
}

func firstTable(block []string) int {
	for i, line := range block {
		if strings.HasPrefix(strings.TrimSpace(line), "[") && startsTable(line) {
			return i
		}
	}
	return len(block)
}

var tableForm = lazyregexp.New(`^\s*\[\[?\s*[A-Za-z0-9_."' -]+\s*\]\]?\s*(#.*)?$`)

func startsTable(line string) bool { return tableForm.MatchString(strings.TrimRight(line, "\r\n")) }

func startsKey(line, fence, key string) bool {
	separator := ":"
	if fence == "+++" {
		separator = "="
	}
	name, _, found := strings.Cut(line, separator)
	if !found || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "\t") {
		return false
	}
	return strings.Trim(strings.TrimSpace(name), `"'`) == key
}

var topKey = lazyregexp.New(`^["']?[^\s:=#\[\]{},"'-][^:=]*["']?\s*[:=]`)

// continues reports whether a line belongs to the value of the key above it.
func continues(line, fence string) bool {
	trimmed := strings.TrimSpace(line)
	if trimmed == "" {
		return true
	}
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	if fence == "---" {
		return indented || trimmed == "-" || strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "]") || strings.HasPrefix(trimmed, "}")
	}
	return !strings.HasPrefix(trimmed, "#") && !startsTable(line) && (indented || !topKey.MatchString(line))
}

// renderKey writes one line; a value that is not one YAML scalar or flow list is refused.
func renderKey(fence, key, value string) (string, error) {
	if !keyForm.MatchString(key) {
		return "", errKey
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return "", errValue
	}
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(key+": "+value+"\n"), &parsed); err != nil || len(parsed) != 1 {
		return "", errValue
	}
	if fence == "---" {
		return key + ": " + value, nil
	}
	literal, err := tomlLiteral(parsed[key])
	return key + " = " + literal, err
}

var dateForm = lazyregexp.New(`^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?$`)

func tomlLiteral(value any) (string, error) {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case string:
		if dateForm.MatchString(v) {
			return v, nil
		}
		return string(encode(v)), nil // a JSON string is a TOML basic string
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			literal, err := tomlLiteral(item)
			if err != nil {
				return "", err
			}
			items[i] = literal
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	}
	return "", errValue
}

func lineEnd(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
