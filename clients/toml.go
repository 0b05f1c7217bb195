package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// transport are the keys of an entry that say how a server is reached. They are replaced;
// what else a person has set of the entry stays.
var transport = []string{"command", "args", "url", "bearer_token_env_var"}

// mergeTOML changes a file of TOML.
func mergeTOML(c Client, file []byte, s Server) ([]byte, error) {
	var before, after map[string]any
	if err := toml.Unmarshal(file, &before); err != nil {
		return nil, unusable(c, "it is not TOML")
	}
	path := []string{c.key, s.Name}
	all := statements(file)
	out, ok := setTable(file, all, path, lines(c.entry(s)))
	if !ok {
		return nil, unusable(c, c.key+" is written on one line, which cannot be added to")
	}
	if err := toml.Unmarshal(out, &after); err != nil || !sameBut(before, after, c.key, s.Name) {
		return nil, unusable(c, "it cannot be changed without touching something else")
	}
	return out, nil
}

// lines writes members as keys of a table.
func lines(m members) string {
	var b strings.Builder
	for _, one := range m {
		raw, err := json.Marshal(one.value) // texts and lists of texts are the same in TOML
		if err != nil {
			continue // there are no others
		}
		fmt.Fprintf(&b, "%s = %s\n", one.name, strings.ReplaceAll(string(raw), `","`, `", "`))
	}
	return b.String()
}

// statement is a piece of a file: a header, a key with its value, or what is between them.
type statement struct {
	from, to int
	header   bool
	path     []string // of the table, or of the key from the root; nil: neither
}

// setTable sets the keys of a table, and reports whether the file is written in a way that
// this can be done with.
func setTable(file []byte, all []statement, path []string, keys string) ([]byte, bool) {
	head := slices.IndexFunc(all, func(s statement) bool { return s.header && slices.Equal(s.path, path) })
	if head >= 0 {
		out := slices.Clone(file)
		for i := len(all) - 1; i > head; i-- {
			if k := all[i]; !k.header && len(k.path) == len(path)+1 && slices.Equal(k.path[:len(path)], path) && slices.Contains(transport, k.path[len(path)]) {
				out = splice(out, k.from, k.to, "")
			}
		}
		if file[all[head].to-1] != '\n' {
			keys = "\n" + keys
		}
		return splice(out, all[head].to, all[head].to, keys), true
	}
	for _, k := range all {
		under := len(k.path) >= len(path) && slices.Equal(k.path[:len(path)], path)
		if !k.header && (under || slices.Equal(k.path, path[:1])) {
			return nil, false // gantry = { … }, dotted keys, or mcp_servers = { … }
		}
	}
	out := bytes.TrimRight(file, "\n")
	if len(out) > 0 {
		out = append(slices.Clone(out), "\n\n"...)
	}
	return append(out, fmt.Sprintf("[%s.%s]\n%s", path[0], bare(path[1]), keys)...), true
}

// bare returns a key as it is written.
func bare(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
	}
	if key != "" && !strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }) {
		return key
	}
	return fmt.Sprintf("%q", key)
}

// statements splits a valid file. Comments belong to what is between.
func statements(file []byte) (all []statement) {
	var table []string
	for at := 0; at < len(file); {
		end := statementEnd(file, at)
		s := statement{from: at, to: end}
		text := string(file[at:end])
		switch begin := strings.TrimSpace(text); {
		case begin == "" || begin[0] == '#':
		case begin[0] == '[':
			s.header, s.path = true, keysOf(text)
			table = s.path
		default:
			s.path = slices.Concat(table, keysOf(text))
		}
		all = append(all, s)
		at = end
	}
	return all
}

// keysOf returns the first key of a text, with its parts.
func keysOf(text string) []string {
	var into map[string]any
	meta, err := toml.Decode(text, &into)
	if err != nil || len(meta.Keys()) == 0 {
		return nil
	}
	first := meta.Keys()[0]
	for _, k := range meta.Keys() { // of a header all parts are keys of their own
		if len(k) > len(first) && strings.HasPrefix(strings.TrimSpace(text), "[") {
			first = k
		}
	}
	return slices.Clone(first)
}

// statementEnd returns where the line ends that begins at a place, with the lines that
// belong to its texts and lists.
func statementEnd(file []byte, at int) int {
	depth := 0
	for at < len(file) {
		rest := file[at:]
		switch c := rest[0]; {
		case bytes.HasPrefix(rest, []byte(`"""`)), bytes.HasPrefix(rest, []byte(`'''`)):
			at += 3 + quoteEnd(rest[3:], string(rest[:3]))
			continue
		case c == '"', c == '\'':
			at += 1 + quoteEnd(rest[1:], string(rest[:1]))
			continue
		case c == '#':
			if n := bytes.IndexByte(rest, '\n'); n >= 0 {
				at += n
				continue
			}
			return len(file)
		case c == '[', c == '{':
			depth++
		case c == ']', c == '}':
			depth--
		case c == '\n' && depth <= 0:
			return at + 1
		}
		at++
	}
	return at
}

// quoteEnd returns how long a text is, with the mark that ends it.
func quoteEnd(rest []byte, mark string) int {
	for at := 0; at < len(rest); at++ {
		switch {
		case rest[at] == '\\' && mark[0] == '"':
			at++
		case bytes.HasPrefix(rest[at:], []byte(mark)):
			return at + len(mark)
		}
	}
	return len(rest)
}
