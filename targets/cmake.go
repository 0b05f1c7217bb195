package targets

import (
	"strings"
)

// cmakeRunner finds the custom targets of CMakeLists.txt. They are shown with what a
// person would type, which is two commands and not one, and are not started from here.
func cmakeRunner() Runner {
	return Runner{
		Kind: "cmake",
		Tools: []Tool{{
			Name: "cmake", Program: "cmake", Never: true,
			Hint: "CMake targets need a configured build folder: run the command in a terminal, or wrap it in a target of make or just",
		}},
		find: findCMake,
	}
}

func findCMake(f *folder) {
	s, ok := f.first("CMakeLists.txt")
	if !ok {
		return
	}
	listed := map[string]bool{}
	for _, words := range cmakeCalls(s.text, "add_custom_target") {
		if len(words) == 0 || strings.Contains(words[0], "$") || listed[words[0]] {
			continue
		}
		name := words[0]
		listed[name] = true
		description := "CMake custom target: " + name
		for i, w := range words[:len(words)-1] {
			if w == "COMMENT" {
				description = words[i+1]
			}
		}
		f.add(s, Target{
			Name: name, Description: description, tool: cmakeRunner().Tools[0],
			Command: "cmake -S . -B build && cmake --build build --target " + quoted(name),
		})
	}
}

// cmakeCalls returns the arguments of each call of a command.
func cmakeCalls(text, command string) [][]string {
	var calls [][]string
	var previous string
	l := cmakeLexer{rest: text}
	for {
		word, kind := l.next()
		switch {
		case kind == cmakeEnd:
			return calls
		case kind == cmakeOpen:
			if args := l.arguments(); strings.EqualFold(previous, command) {
				calls = append(calls, args)
			}
			previous = ""
		case kind == cmakeWord:
			previous = word
		}
	}
}

// cmakeLexer cuts a CMake file into words and parentheses.
type cmakeLexer struct{ rest string }

type cmakeKind int

const (
	cmakeEnd cmakeKind = iota
	cmakeWord
	cmakeOpen
	cmakeClose
)

// arguments returns the words up to the parenthesis that closes the call.
func (l *cmakeLexer) arguments() []string {
	var words []string
	for depth := 1; depth > 0; {
		word, kind := l.next()
		switch kind {
		case cmakeEnd:
			return words
		case cmakeOpen:
			depth++
		case cmakeClose:
			depth--
		default:
			words = append(words, word)
		}
	}
	return words
}

func (l *cmakeLexer) next() (string, cmakeKind) {
	l.skip()
	switch {
	case l.rest == "":
		return "", cmakeEnd
	case l.rest[0] == '(':
		l.rest = l.rest[1:]
		return "", cmakeOpen
	case l.rest[0] == ')':
		l.rest = l.rest[1:]
		return "", cmakeClose
	case l.rest[0] == '"':
		return l.quoted(), cmakeWord
	}
	if open, end := bracket(l.rest); open != "" {
		text, rest, _ := strings.Cut(l.rest[len(open):], end)
		l.rest = rest
		return text, cmakeWord
	}
	end := strings.IndexAny(l.rest, " \t\n()#\"")
	if end < 0 {
		end = len(l.rest)
	}
	word := l.rest[:end]
	l.rest = l.rest[end:]
	return word, cmakeWord
}

// skip passes over blanks and comments.
func (l *cmakeLexer) skip() {
	for {
		l.rest = strings.TrimLeft(l.rest, " \t\n")
		if !strings.HasPrefix(l.rest, "#") {
			return
		}
		if open, end := bracket(l.rest[1:]); open != "" {
			_, l.rest, _ = strings.Cut(l.rest[1:], end)
			continue
		}
		_, l.rest, _ = strings.Cut(l.rest, "\n")
	}
}

func (l *cmakeLexer) quoted() string {
	var b strings.Builder
	for i := 1; i < len(l.rest); i++ {
		switch c := l.rest[i]; {
		case c == '"':
			l.rest = l.rest[i+1:]
			return b.String()
		case c == '\\' && i+1 < len(l.rest):
			i++
			b.WriteByte(l.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	l.rest = ""
	return b.String()
}

// bracket returns the opening [[ or [==[ that text begins with, and what closes it.
func bracket(text string) (open, end string) {
	if !strings.HasPrefix(text, "[") {
		return "", ""
	}
	equals := len(text[1:]) - len(strings.TrimLeft(text[1:], "="))
	if !strings.HasPrefix(text[1+equals:], "[") {
		return "", ""
	}
	fill := strings.Repeat("=", equals)
	return "[" + fill + "[", "]" + fill + "]"
}
