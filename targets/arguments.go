package targets

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/fault"
)

// makeSpecials are the variables of make that choose what executes a recipe, or what make
// reads.
var makeSpecials = []string{
	"SHELL", ".SHELLFLAGS", "MAKE", "MAKEFLAGS", "MAKEFILES", "MFLAGS", "GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKE_COMMAND", "MAKESHELL",
	".RECIPEPREFIX", ".LIBPATTERNS", ".INCLUDE_DIRS", ".DEFAULT_GOAL", "VPATH",
}

// argumentCheck knows what a caller's arguments may do.
type argumentCheck struct {
	target  Target
	allowed verdict
	others  func(word string) (Target, bool) // another target of the same tool
	judge   *judge
}

// check refuses arguments that would do something else than what was allowed. They stay
// what they are: elements of an argv.
func (c argumentCheck) check(args []string) error {
	if len(args) > MaxArgs {
		return fault.New(fault.SchemaValidationFailed, "/args: at most %d arguments", MaxArgs)
	}
	words := 0
	for _, a := range args {
		if len(a) > MaxArgBytes || strings.ContainsRune(a, 0) || !utf8.ValidString(a) {
			return fault.New(fault.SchemaValidationFailed, "/args: an argument is UTF-8 without NUL, of at most %d bytes", MaxArgBytes)
		}
		if strings.HasPrefix(a, "-") {
			if !c.allowed.options {
				return refusedArgument(a, "options may not be passed to this task").
					WithHint("leave it out, or ask a human to set options = true in the task's entry of the allowlist")
			}
			if c.target.tool.variables == makeVariable && evaluates(a) {
				return refusedArgument(a, "make would evaluate it")
			}
			continue
		}
		isVariable, err := c.variable(a)
		if err != nil {
			return err
		}
		if isVariable || a == "" {
			continue
		}
		if words++; c.target.takes != anyArguments && words > c.target.takes {
			if err := c.further(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// variable checks an argument NAME=value, where the tool makes a variable of it.
func (c argumentCheck) variable(a string) (bool, error) {
	kind := c.target.tool.variables
	name, value, ok := strings.Cut(a, "=")
	if kind == plainWord || !ok {
		if kind == makeVariable && evaluates(a) {
			return false, refusedArgument(a, "make would evaluate it")
		}
		return false, nil
	}
	if kind == makeVariable {
		if evaluates(a) {
			return true, refusedArgument(name+"=…", "make would evaluate its value")
		}
		if strings.HasSuffix(name, "!") {
			return true, refusedArgument(name+"=…", "make would run its value")
		}
		name = strings.TrimSpace(strings.TrimRight(name, ":?+"))
		if slices.Contains(makeSpecials, name) {
			return true, refusedArgument(name+"=…", "it chooses what make runs")
		}
		name = strings.TrimPrefix(name, ".")
	}
	switch bare := strings.ReplaceAll(strings.ReplaceAll(name, "-", "_"), ".", "_"); {
	case !variableName(bare):
		return true, refusedArgument(name+"=…", "that is no name of a variable")
	case strings.ContainsRune(value, '\n') && kind == makeVariable:
		return true, refusedArgument(name+"=…", "a value for make is one line")
	case EnvForbidden(name) && !slices.Contains(c.allowed.allowEnv, name):
		return true, fault.New(fault.EnvForbidden, "Environment variables that a caller may not set: %s", shown(name)).
			WithHint("leave them out, or ask a human to name them in allow_env of the task's entry in the allowlist").
			WithDetails(Refused{[]string{shown(name)}})
	}
	return true, nil
}

// evaluates reports whether make expands something in a text.
func evaluates(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "${") || strings.Contains(text, "`")
}

// further checks a word that the tool takes for one more target: it must be one of the
// list, and allowed by itself.
func (c argumentCheck) further(word string) error {
	t, ok := c.others(word)
	if !ok {
		return refusedArgument(word, c.target.Runner+" would take it for another target, and the project has none of this name")
	}
	if !c.judge.of(t).allowed {
		return fault.New(fault.NotAllowlisted, "Task '%s' is not allowlisted for MCP execution", shown(t.Name)).
			WithHint(askHuman).WithDetails(Denial{t.UniqueName, t.FilePath, "argument"})
	}
	return nil
}

func refusedArgument(a, why string) *fault.Fault {
	return fault.New(fault.ArgumentRefused, "The argument '%s' is refused: %s", shown(a), why).
		WithHint("leave it out").WithDetails(Refused{[]string{shown(a)}})
}
