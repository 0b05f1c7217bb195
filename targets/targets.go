// Package targets knows what a project can do: the entries of its build files, and
// which of them a caller may start.
//
// Discovery reads and never executes. Each kind of build file has a [Runner], in a
// file of its own, that turns the files of one folder into [Target]s. What it reads is
// bounded in size and opened under the project's root, so a link that leads out, a pipe
// or a file of a gigabyte is a [Problem] with the file's name and hides nothing else. A
// listing is kept until one of the files or folders that it was made from has changed,
// whatever the time.
//
// A target has one unique name. It is the plain name while nothing else in the folder
// has that name, and the name with letters of its runner else, so it depends on the files
// and not on what a machine has installed.
//
// Starting is decided here and done elsewhere. [Project.Decide] puts a request to its
// checks in one fixed order (known, allowed, available, folder, environment, arguments)
// and answers with an [Invocation]: an argv, a folder and a whole environment for package
// proc. Consent comes from the [Allowlist], a file that people edit and no tool can. It is
// read anew for each decision.
package targets

import (
	"slices"
	"strings"
)

// Target is one entry of a build file.
type Target struct {
	UniqueName  string   // the name that callers use, unique in its listing
	Name        string   // the name before suffixes; the one that the allowlist compares
	SourceName  string   // the name as the file has it
	Runner      string   // short name of the tool that runs it, such as make
	Argv        []string // what is executed, without a caller's arguments; nil: cannot be
	Command     string   // the same as a person would type it, with hooks as a comment
	Dir         string   // folder that it is executed in, slash separated, "." for the root
	FilePath    string   // file that defines it, relative to the root, slash separated
	Description string   // empty when the file has none
	Available   bool     // its tool is installed
	Allowlisted bool     // the allowlist lets callers start it, as it is now
	Source      string   // sha256 of the file that defines it, in hex

	tool     Tool
	invoked  string        // file that the tool is started on, relative to the root
	recipe   func() string // nil: the file's sum
	suffix   string        // short name that a suffix is made from
	takes    int           // arguments that are its own; those after it are further targets
	searched []string      // files by which the tool finds its project, for other folders
}

// Recipe returns the sha256, in hex, of what the build file says that the target does. For
// make and just that is its recipe, those of what it depends on and what holds for all
// recipes; for package.json the scripts; else the whole file.
func (t Target) Recipe() string {
	if t.recipe == nil {
		return t.Source
	}
	return t.recipe()
}

// anyArguments says that all arguments are the target's own.
const anyArguments = -1

// Problem is what is wrong with one definition file.
type Problem struct {
	FilePath string // relative to the root, slash separated
	Severity Severity
	Message  string // a sentence without a final full stop
}

// Severity says what a problem means for the file's targets.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the file, or a part of it, could not be used
	Warning Severity = "warning" // the file was used, and something in it was passed over
)

// Listing is what a folder offers, in a fixed order: by runner, as in [Runners], then as
// the files have it.
type Listing struct {
	Dir      string // relative to the root
	Targets  []Target
	Problems []Problem // by file, then in the order in which they were found
}

// Only returns the targets of a runner, by its short name and case-sensitively. An empty
// name means all; an unknown one gives none.
func (l Listing) Only(runner string) []Target {
	if runner == "" {
		return l.Targets
	}
	return slices.DeleteFunc(slices.Clone(l.Targets), func(t Target) bool { return t.Runner != runner })
}

// Runner is one kind of build file.
type Runner struct {
	Kind  string // names the runner's file here and its fixture in testdata
	Tools []Tool // that can execute its targets

	// find adds the targets of a folder, in the order of the file.
	find func(*folder)
}

// Tool is a program that executes targets.
type Tool struct {
	Name    string // short name, shown to callers
	Program string // looked up in PATH; empty: always there
	Never   bool   // its targets are shown and never started from here
	Hint    string // what to do when it is missing, a sentence without a final full stop

	variables variables
	// elsewhere returns the argv of a target for another folder, from which up leads to
	// the target's own. Nil: the tool looks for its files in the folders above by itself.
	elsewhere func(t Target, up string) []string
}

// variables says what a tool makes of an argument NAME=value.
type variables int

const (
	plainWord    variables = iota // nothing: it is a word like others
	makeVariable                  // a variable of make, which may hold commands
	envVariable                   // a variable of the environment
)

// Runners returns every kind of build file, in the order in which targets are listed and
// receive suffixes.
func Runners() []Runner {
	return []Runner{
		makeRunner(),
		npmRunner(),
		pyprojectRunner(),
		taskRunner(),
		turboRunner(),
		mavenRunner(),
		gradleRunner(),
		actRunner(),
		composeRunner(),
		travisRunner(),
		cmakeRunner(),
		justRunner(),
		shellRunner(),
		cargoRunner(),
		rakeRunner(),
		mageRunner(),
	}
}

// display returns an argv as a person would type it in a shell.
func display(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quoted(a)
	}
	return strings.Join(words, " ")
}

// quoted returns a word for a shell, quoted when it needs to be.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
