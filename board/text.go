package board

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"github.com/gantry-run/gantry/internal/fault"
)

// line checks a text that stands on one line, and trims it.
func line(what, text string, max int) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", fault.New(fault.InvalidInput, "the %s is empty", what)
	case len(text) > max:
		return "", fault.New(fault.InvalidInput, "the %s is longer than %d bytes", what, max)
	case strings.ContainsFunc(text, unicode.IsControl):
		return "", fault.New(fault.InvalidInput, "the %s holds a control character", what).WithHint("write it on one line")
	}
	return text, nil
}

// prose checks a text of many lines.
func prose(what, text string, max int) error {
	switch {
	case len(text) > max:
		return fault.New(fault.InvalidInput, "the %s is longer than %d bytes", what, max)
	case strings.ContainsRune(text, 0):
		return fault.New(fault.InvalidInput, "the %s holds a NUL character", what)
	}
	return nil
}

// maxName bounds the name of a repository, which is that of a folder.
const maxName = 64

// folderName makes a name that is fit for a folder, on every system, and for the first
// part of a path.
func folderName(name string) string {
	name = strings.Map(func(r rune) rune {
		if isPlain(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
	name = strings.TrimLeft(name, "._-")
	return strings.TrimRight(name[:min(len(name), maxName)], ".")
}

// freeName returns the name, or that with a number behind it.
func freeName(name string, taken func(string) bool) string {
	if name == "" {
		name = "repo"
	}
	free := name
	for n := 2; taken(free); n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// maxSlug bounds what the name of a branch says of its task.
const maxSlug = 40

// slug returns the words of a title as a part of a branch's name: lower case letters,
// digits and dashes.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !isPlain(r) })
	out := strings.Join(words, "-")
	if len(out) > maxSlug {
		out = out[:maxSlug]
		if cut := strings.LastIndexByte(out, '-'); cut > maxSlug/2 {
			out = out[:cut]
		}
	}
	if out = strings.Trim(out, "-"); out == "" {
		return "task"
	}
	return out
}

// list is strings as one argument of a query, for json_each.
func list(items []string) string {
	raw, err := json.Marshal(append([]string{}, items...))
	if err != nil {
		panic(err) // strings always encode
	}
	return string(raw)
}
