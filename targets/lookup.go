package targets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/gantry-run/gantry/internal/fault"
)

// Candidate is a target that a name may mean. A TASK_AMBIGUOUS fault has a [Candidates]
// as its details, and so does a TASK_NOT_FOUND whose name looks like one that is there.
type Candidate struct {
	UniqueName string `json:"unique_name"`
	Runner     string `json:"runner"`
	FilePath   string `json:"file_path"`
}

// String returns the candidate as a line of a list.
func (c Candidate) String() string {
	return fmt.Sprintf("  • %s (%s from %s)", c.UniqueName, c.Runner, c.FilePath)
}

// Candidates are the details of a fault about a name, in the order of the listing.
type Candidates struct {
	Candidates []Candidate `json:"candidates"`
}

// maxCandidates is how many targets a fault names.
const maxCandidates = 10

// Lookup returns the target of a unique name, or of a plain name that only one target has.
// A plain name of several is TASK_AMBIGUOUS, anything else TASK_NOT_FOUND; when a name
// that is there only looks like the given one, the hint says so.
func (l Listing) Lookup(name string) (Target, error) {
	var plain, suffixed []Target
	for _, t := range l.Targets {
		switch {
		case t.UniqueName == name:
			return t, nil
		case t.Name == name:
			plain = append(plain, t)
		case t.UniqueName == t.Name && firstLetterForm(t) == name:
			suffixed = append(suffixed, t)
		}
	}
	if len(plain) == 1 || len(plain) == 0 && len(suffixed) == 1 {
		return append(plain, suffixed...)[0], nil
	}
	if len(plain) > 1 {
		names := make([]string, 0, maxCandidates)
		for _, t := range plain[:min(len(plain), maxCandidates)] {
			names = append(names, t.UniqueName)
		}
		return Target{}, fault.New(fault.TaskAmbiguous, "Task '%s' is ambiguous: %d targets have this name", shown(name), len(plain)).
			WithHint("Use one of: %s", strings.Join(names, ", ")).WithDetails(candidates(plain))
	}
	return Target{}, l.notFound(name)
}

func (l Listing) notFound(name string) error {
	f := fault.New(fault.TaskNotFound, "Task '%s' not found", shown(name))
	const hint = "Use 'list_tasks' to see available tasks"
	var alike []Target
	form := skeleton(name)
	for _, t := range l.Targets {
		if s := skeleton(t.UniqueName); s == form || skeleton(t.Name) == form {
			alike = append(alike, t)
		}
	}
	if len(alike) == 0 {
		return f.WithHint(hint)
	}
	return f.WithHint("%s. '%s' only looks like '%s'%s", hint, shown(name), alike[0].UniqueName, odd(name)).WithDetails(candidates(alike))
}

func candidates(list []Target) Candidates {
	c := Candidates{Candidates: []Candidate{}}
	for _, t := range list[:min(len(list), maxCandidates)] {
		c.Candidates = append(c.Candidates, Candidate{t.UniqueName, t.Runner, t.FilePath})
	}
	return c
}

// shown returns a caller's text fit for a sentence: one line, what does not show replaced,
// and not long.
func shown(text string) string { return clip(printable(text), 80) }

// lookalikes are letters of other scripts that are taken for Latin ones.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "е", "e", "к", "k", "м", "m", "н", "h", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x",
	"і", "i", "ї", "i", "ј", "j", "ѕ", "s", "ԁ", "d", "ԛ", "q", "ԝ", "w", "ь", "b", "ɡ", "g", "ӏ", "l", "ո", "n", "ս", "u",
	"α", "a", "β", "b", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "ı", "i",
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "−", "-", "_", "-",
)

// skeleton returns what a name looks like to a hasty eye: in lower case, without marks
// that do not show, with look-alikes as Latin letters.
func skeleton(name string) string {
	name = strings.ToLower(norm.NFKC.String(name))
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, name)
	return lookalikes.Replace(name)
}

// odd names the characters of a name that are not what they seem, such as U+0456.
func odd(name string) string {
	var points []string
	for _, r := range name {
		if r > unicode.MaxASCII || r < ' ' {
			points = append(points, fmt.Sprintf("U+%04X", r))
		}
	}
	slices.SortFunc(points, cmp.Compare[string])
	if points = slices.Compact(points); len(points) == 0 {
		return ""
	}
	return ": it has " + strings.Join(points[:min(len(points), maxCandidates)], ", ")
}
