package validate

import (
	"net/url"
	"strconv"
	"strings"
)

// plain undoes the library's percent-encoding of a JSON pointer.
func plain(location string) string {
	if decoded, err := url.PathUnescape(location); err == nil {
		return decoded
	}
	return location
}

// resolve returns what a JSON pointer names in a tree, or nil.
func resolve(tree any, pointer string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			return tree
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch t := tree.(type) {
		case map[string]any:
			tree = t[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			tree = t[i]
		default:
			return nil
		}
	}
	return tree
}

// escapePointer makes a member's name a step of a JSON pointer.
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
