package targets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// name gives each target its unique name: the plain one while nothing else is called so,
// else the name with letters of its runner. The order of the list decides who gets the
// shorter suffix. A derived name is never one that a target has by itself.
func name(list []Target) {
	count := map[string]int{}
	for _, t := range list {
		count[t.Name]++
	}
	taken := map[string]bool{} // plain names, and those given out
	for n := range count {
		taken[n] = true
	}
	next := map[string]int{} // where to go on counting, by name and runner
	for i := range list {
		t := &list[i]
		if count[t.Name] == 1 {
			t.UniqueName = t.Name
			continue
		}
		t.UniqueName = derive(t.Name, strings.ToLower(t.suffix), taken, next)
		taken[t.UniqueName] = true
	}
}

// derive returns the first free form of a name: with the first letter of the runner, its
// first three, one more at a time, the whole, and then with a number.
func derive(name, runner string, taken map[string]bool, next map[string]int) string {
	runner = strings.ReplaceAll(runner, " ", "-") // docker compose
	letters := []rune(runner)
	key := name + "\x00" + runner
	if next[key] == 0 {
		for n := 1; n <= len(letters); n++ {
			if n == 2 && len(letters) > 2 {
				continue
			}
			if form := name + "-" + string(letters[:n]); !taken[form] {
				return form
			}
		}
	}
	for n := max(1, next[key]); ; n++ {
		if form := name + "-" + runner + strconv.Itoa(n); !taken[form] {
			next[key] = n + 1
			return form
		}
	}
}

// firstLetterForm is the suffixed name that a target would have if its plain name were
// shared: callers may keep using it when the other target is gone.
func firstLetterForm(t Target) string {
	r, _ := utf8.DecodeRuneInString(strings.ToLower(t.suffix))
	return t.Name + "-" + string(r)
}
