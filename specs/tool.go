package specs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Effect says what a call may do.
type Effect string

// The effects, from harmless to irrevocable.
const (
	Read    Effect = "read"    // changes nothing
	Write   Effect = "write"   // changes files, rows or a remote
	Run     Effect = "run"     // starts or continues something that outlives the call
	Destroy Effect = "destroy" // ends or removes something for good
)

// Delivery says how a call answers.
type Delivery string

// The deliveries.
const (
	Once     Delivery = "once"      // one answer, as soon as it is known
	LongPoll Delivery = "long-poll" // one answer, held back until there is news or a time has passed
	Stream   Delivery = "stream"    // progress until the answer
)

// Tool is one tool of a toolset, as its file says.
type Tool struct {
	Toolset     string      `json:"-"` // folder that the file is in
	Name        string      `json:"name"`
	Title       string      `json:"title"`
	Position    int         `json:"position"` // place in the listing, unique in the toolset
	Description Description `json:"description"`
	Effect      Effect      `json:"effect"`
	Lock        string      `json:"lock"`        // argument that names the run to lock; empty: no call lock
	Idempotency []string    `json:"idempotency"` // arguments that carry the idempotency key; empty: none
	TimeoutS    int         `json:"timeout_s"`   // seconds
	Delivery    Delivery    `json:"delivery"`
	SameAs      string      `json:"same_as,omitempty"`    // tool of the toolset whose other name this is
	Deprecated  string      `json:"deprecated,omitempty"` // what to use in its place

	// Errors are the codes of the tool itself; those of the guard come on top: MayReturn.
	Errors []fault.Code `json:"errors"`

	// Input and Output are JSON Schemas of the arguments and the result, without
	// white space. They are shared: do not change their bytes.
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Description is what a model reads of a tool, under five headings.
type Description struct {
	UseWhen  string `json:"use_when"`
	Required string `json:"required"`
	Optional string `json:"optional"`
	Next     string `json:"next"`
	Avoid    string `json:"avoid"`
}

// String returns the five headings, one on each line.
func (d Description) String() string {
	return "Use when: " + d.UseWhen + "\nRequired: " + d.Required + "\nOptional: " + d.Optional +
		"\nNext: " + d.Next + "\nAvoid: " + d.Avoid
}

// Timeout returns how long a call may take before TOOL_TIMEOUT.
func (t Tool) Timeout() time.Duration { return time.Duration(t.TimeoutS) * time.Second }

// MayReturn returns every code that a call may end with, sorted: the tool's own and
// those of the guard in front of it.
func (t Tool) MayReturn() []fault.Code {
	codes := append(slices.Clone(t.Errors),
		fault.SchemaValidationFailed, fault.RateLimited, fault.ServerBusy, fault.StoreFull, fault.ShuttingDown,
		fault.AuthInsufficientScope, fault.Unauthorized, fault.ToolTimeout, fault.Cancelled, fault.Internal)
	if len(t.Idempotency) > 0 {
		codes = append(codes, fault.InvalidInput, fault.IdempotencyConflict, fault.IdempotencyInProgress)
	}
	if t.Lock != "" {
		codes = append(codes, fault.RunLocked)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Toolsets returns the names of the toolsets that have tools, sorted.
func Toolsets() []string {
	entries, err := files.ReadDir("tools")
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Tools returns the tools of a toolset in the order in which they are listed. A
// tool that is another's name has that one's schemas. The error names the file
// that does not parse, or says that there is no such toolset.
func Tools(toolset string) ([]Tool, error) {
	all, err := loaded()
	if err != nil {
		return nil, err
	}
	tools, ok := all[toolset]
	if !ok {
		return nil, fault.New(fault.ConfigInvalid, "there is no toolset %q", toolset).
			WithHint("choose from %q", Toolsets())
	}
	return slices.Clone(tools), nil
}

// ToolByName returns a tool of a toolset, and whether there is one.
func ToolByName(toolset, name string) (Tool, bool) {
	all, err := loaded()
	if err != nil {
		return Tool{}, false
	}
	i := slices.IndexFunc(all[toolset], func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return all[toolset][i], true
}

// loaded parses the tool files, once.
var loaded = sync.OnceValues(func() (map[string][]Tool, error) {
	all := map[string][]Tool{}
	for _, toolset := range Toolsets() {
		tools, err := load(toolset)
		if err != nil {
			return nil, err
		}
		all[toolset] = tools
	}
	return all, nil
})

func load(toolset string) ([]Tool, error) {
	dir := path.Join("tools", toolset)
	byName := map[string]Tool{}
	for _, stem := range names(dir, ".json") {
		raw, _ := files.ReadFile(path.Join(dir, stem+".json"))
		t, err := parseTool(raw)
		if err == nil && t.Name != stem {
			err = fmt.Errorf("holds the tool %q", t.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("specs/%s/%s.json: %w", dir, stem, err)
		}
		t.Toolset = toolset
		byName[stem] = t
	}
	tools := make([]Tool, 0, len(byName))
	for _, t := range byName {
		if t.SameAs != "" {
			original, ok := byName[t.SameAs]
			if !ok || original.SameAs != "" {
				return nil, fmt.Errorf("specs/%s/%s.json: same_as names no original", dir, t.Name)
			}
			t.Input, t.Output = original.Input, original.Output
		}
		tools = append(tools, t)
	}
	slices.SortFunc(tools, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Name, b.Name))
	})
	return tools, nil
}

// parseTool reads one file. Unknown members are an error: a misspelt one would
// otherwise be silently without effect.
func parseTool(raw []byte) (Tool, error) {
	var t Tool
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return Tool{}, err
	}
	for _, schema := range []*json.RawMessage{&t.Input, &t.Output} {
		var compact bytes.Buffer
		if len(*schema) > 0 {
			if err := json.Compact(&compact, *schema); err != nil {
				return Tool{}, err
			}
			*schema = compact.Bytes()
		}
	}
	return t, nil
}
