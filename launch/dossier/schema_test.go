package dossier_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// schema is the part of JSON Schema that has a counterpart in a Go type.
type schema struct {
	Type                 json.RawMessage
	Properties           map[string]schema
	Required             []string
	Items                *schema
	Enum                 []string
	AdditionalProperties json.RawMessage
}

// comparison collects how a Go type and a schema differ, both ways.
type comparison struct {
	allRequired bool // a field without omitempty is a required member
	diffs       []string
}

func (c *comparison) say(at, format string, args ...any) {
	c.diffs = append(c.diffs, at+": "+fmt.Sprintf(format, args...))
}

func (c *comparison) value(at string, t reflect.Type, s schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		c.kind(at, s, "string")
	case t == reflect.TypeFor[json.RawMessage]():
		if s.Type != nil {
			c.say(at, "any JSON in Go, %s in the schema", s.Type)
		}
	case t.Kind() == reflect.Struct:
		c.kind(at, s, "object")
		c.object(at, t, s)
	case t.Kind() == reflect.Slice:
		c.kind(at, s, "array")
		if s.Items == nil {
			c.say(at, "no items in the schema")
			return
		}
		c.value(at+"[]", t.Elem(), *s.Items)
	case t.Kind() == reflect.Map:
		c.kind(at, s, "object")
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) != nil {
			c.say(at, "a map in Go, not in the schema")
			return
		}
		c.value(at+".*", t.Elem(), values)
	case t.Kind() == reflect.String:
		if s.Enum == nil || s.Type != nil {
			c.kind(at, s, "string")
		}
	case t.Kind() == reflect.Bool:
		c.kind(at, s, "boolean")
	case t.Kind() == reflect.Float64:
		c.kind(at, s, "number")
	default:
		c.kind(at, s, "integer")
	}
}

// kind checks the schema's type: the one given, or that and null.
func (c *comparison) kind(at string, s schema, want string) {
	if got := string(s.Type); got != `"`+want+`"` && got != `["`+want+`", "null"]` && got != `["`+want+`","null"]` {
		c.say(at, "%s in Go, %s in the schema", want, got)
	}
}

func (c *comparison) object(at string, t reflect.Type, s schema) {
	seen := map[string]bool{}
	for _, f := range fields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		seen[name] = true
		p, ok := s.Properties[name]
		if !ok {
			c.say(at, "the schema lacks %s", name)
			continue
		}
		optional := strings.Contains(options, "omitempty")
		if required := slices.Contains(s.Required, name); c.allRequired && required == optional {
			c.say(at+"/"+name, "required %v, omitempty %v", required, optional)
		}
		if f.Type.Kind() == reflect.Pointer && c.allRequired && !optional && !strings.Contains(string(p.Type), "null") {
			c.say(at+"/"+name, "may be null in Go, not in the schema")
		}
		c.value(at+"/"+name, f.Type, p)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !seen[name] {
			c.say(at, "the Go type lacks %s", name)
		}
	}
}

// fields returns the fields of a struct, those of embedded ones in their place.
func fields(t reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for i := range t.NumField() {
		switch f := t.Field(i); {
		case f.Anonymous && f.Tag.Get("json") == "":
			all = append(all, fields(f.Type)...)
		case f.IsExported():
			all = append(all, f)
		}
	}
	return all
}

func compare(t *testing.T, name string, raw []byte, of any, allRequired bool) []string {
	t.Helper()
	var s schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := comparison{allRequired: allRequired}
	c.value(name, reflect.TypeOf(of), s)
	return c.diffs
}

func TestArtifactsAndTheirSchemasHaveTheSameMembers(t *testing.T) {
	documents := map[string]any{
		dossier.FrontmatterContractName: dossier.FrontmatterContract{},
		dossier.SiteContextName:         dossier.SiteContext{},
		dossier.RepoInventoryName:       dossier.RepoInventory{},
		dossier.ProductFactsName:        dossier.ProductFacts{},
		dossier.EvidenceMapName:         dossier.EvidenceMap{},
		dossier.SnippetCatalogName:      dossier.SnippetCatalog{},
		dossier.TruthLockReportName:     dossier.TruthLockReport{},
		dossier.PagePlanName:            dossier.PagePlan{},
		dossier.PatchBundleName:         dossier.PatchBundle{},
		dossier.ValidationReportName:    dossier.ValidationReport{},
		dossier.PRName:                  dossier.PR{},
		"snapshot.json":                 runs.View{},
	}
	for _, a := range specs.Artifacts() {
		if a.Schema == "" || a.Name == "run_config.yaml" {
			continue
		}
		document, ok := documents[a.Name]
		if !ok {
			t.Errorf("no Go type for %s", a.Name)
			continue
		}
		delete(documents, a.Name)
		raw, _ := specs.ArtifactSchema(a.Name)
		for _, d := range compare(t, a.Name, raw, document, true) {
			t.Error(d)
		}
	}
	for name := range documents {
		t.Errorf("no schema for %s", name)
	}
}

// settings are fields of run_config that the schema takes, so that an existing
// file is accepted, and that [dossier.Config] does not hold. Their descriptions say so.
var settings = strings.Fields(`platform_family workflows_repo_url workflows_ref locales allow_manual_edits
	review_enabled taskcard_id extra_evidence_urls repo_hints ingestion mcp telemetry`)

func TestConfigAndItsSchemaHaveTheSameMembers(t *testing.T) {
	raw, _ := specs.ArtifactSchema("run_config.yaml")
	var lacking []string
	for _, d := range compare(t, "run_config", raw, dossier.Config{}, false) {
		if name, ok := strings.CutPrefix(d, "run_config: the Go type lacks "); ok {
			lacking = append(lacking, name)
			continue
		}
		t.Error(d)
	}
	slices.Sort(lacking)
	if want := slices.Sorted(slices.Values(settings)); !slices.Equal(lacking, want) {
		t.Errorf("Config lacks  %v\nwant it to lack %v", lacking, want)
	}
	var s struct {
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	for name, p := range s.Properties {
		if says := strings.HasSuffix(p.Description, "(accepted, without effect)"); says != slices.Contains(settings, name) {
			t.Errorf("%s is described as %q", name, p.Description)
		}
	}
}

func TestDefaultsOfConfigAreThoseOfItsSchema(t *testing.T) {
	raw, _ := specs.ArtifactSchema("run_config.yaml")
	var s struct {
		Properties map[string]struct {
			Default    any
			Properties map[string]struct{ Default any }
		}
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	encoded, err := dossier.Encode(dossier.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var defaults map[string]any
	if err := json.Unmarshal(encoded, &defaults); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, p := range s.Properties {
		if want := p.Default; want != nil && !slices.Contains(settings, name) {
			checked++
			if got := defaults[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v in Go, %v in the schema", name, got, want)
			}
		}
		inner, _ := defaults[name].(map[string]any)
		for sub, p := range p.Properties {
			if got := inner[sub]; p.Default != nil && inner != nil {
				checked++
				if !reflect.DeepEqual(got, p.Default) {
					t.Errorf("%s.%s: %v in Go, %v in the schema", name, sub, got, p.Default)
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d defaults", checked)
	}
}

func TestEventPayloadsAndTheirSchemasHaveTheSameMembers(t *testing.T) {
	payloads := map[runs.EventType]any{
		runs.RunCreated: runs.Created{}, runs.NodeEntered: runs.Entered{},
		runs.RunStateChanged: runs.StateChange{}, runs.TransitionRefused: runs.StateChange{},
		runs.WorkItemStarted: runs.ItemStarted{}, runs.WorkItemFinished: runs.ItemFinished{}, runs.WorkItemFailed: runs.ItemFailed{},
		runs.ArtifactWritten: runs.Artifact{}, runs.ArtifactChanged: runs.Artifact{}, runs.InputsCloned: runs.InputsPinned{},
		runs.GateRunStarted: runs.GateRun{}, runs.GateRunFinished: runs.GateRun{},
		runs.IssueOpened: runs.IssueChange{}, runs.IssueResolved: runs.IssueChange{},
		runs.CommandReceived: runs.Command{}, runs.CommandFinished: runs.Receipt{},
		runs.RunPaused: runs.Pause{}, runs.ResumeRewind: runs.Rewind{},
		runs.CommitCreated: runs.Published{}, runs.PROpened: runs.Published{},
		runs.ProcessStarted: runs.Process{}, runs.ProcessAdopted: runs.Process{}, runs.ProcessEnded: runs.Process{},
		runs.RunCompleted: runs.Ended{}, runs.RunFailed: runs.Failure{}, runs.RunCancelled: runs.Ended{},
		runs.JournalRepaired: runs.Repaired{}, runs.RunNoted: runs.Noted{},
		runs.LLMCallStarted: runs.ModelCall{}, runs.LLMCallFinished: runs.ModelAnswer{}, runs.LLMCallFailed: runs.ModelFailure{},
	}
	var declared []string
	for _, e := range eventTypes(t) {
		declared = append(declared, e)
		payload, ok := payloads[runs.EventType(e)]
		raw, has := specs.EventSchema(e)
		if !ok || !has {
			t.Errorf("%s: payload %v, schema %v", e, ok, has)
			continue
		}
		for _, d := range compare(t, e, raw, payload, true) {
			t.Error(d)
		}
	}
	slices.Sort(declared)
	if got := specs.EventTypes(); !slices.Equal(got, declared) {
		t.Errorf("schemas  %v\nconstants %v", got, declared)
	}
}

// eventTypes returns the constants of runs.EventType, read from the source.
func eventTypes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../runs/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "EventType" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, text)
		}
		return true
	})
	return types
}

// The comparison itself is seen to fail, each way.
func TestComparisonSeesDifferences(t *testing.T) {
	type doc struct {
		A string   `json:"a"`
		B []int    `json:"b,omitempty"`
		C *float64 `json:"-"`
	}
	const good = `{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}}}`
	if d := compare(t, "x", []byte(good), doc{}, true); len(d) > 0 {
		t.Fatal(d)
	}
	for from, to := range map[string]string{
		`"a":{"type":"string"}`: `"a":{"type":"integer"}`, `"a":{"type":"string"},`: ``, `"required":["a"]`: `"required":["a","b"]`,
		`"required":["a"],`: ``, `"properties":{`: `"properties":{"z":{},`, `{"type":"integer"}`: `{"type":"string"}`, `"type":"array"`: `"type":"object"`,
	} {
		if d := compare(t, "x", []byte(strings.Replace(good, from, to, 1)), doc{}, true); len(d) == 0 {
			t.Errorf("%s → %s is not seen", from, to)
		}
	}
}

// A whole run: what it writes obeys the schemas, event by event and snapshot by snapshot.
func TestEventsAndSnapshotsOfARunObeyTheirSchemas(t *testing.T) {
	raw, _ := specs.Workflow("launch")
	var workflow runs.Workflow
	if err := json.Unmarshal(raw, &workflow); err != nil {
		t.Fatal(err)
	}
	r := &recorder{view: new(runs.View), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	sha := strings.Repeat("a", 64)
	r.add(t, runs.RunCreated, runs.Created{Kind: runs.Launch, Workflow: workflow, Input: json.RawMessage(`{"github_repo_url":"x"}`),
		InputSHA: sha, Root: sha, Flags: map[string]bool{"fix": true}, Once: &runs.Once{Key: "k", Hash: sha}})
	validated := 0
	for range 100 {
		d := runs.Next(r.view)
		for _, draft := range d.Write {
			r.add(t, draft.Type, draft.Payload)
		}
		for _, w := range d.Execute {
			r.add(t, runs.WorkItemStarted, runs.ItemStarted{WorkItemID: w.Key, Worker: w.Node.Worker, Attempt: 1})
			r.add(t, runs.WorkItemFailed, runs.ItemFailed{WorkItemID: w.Key, Worker: w.Node.Worker, Attempt: 1,
				Failure: runs.Failure{Code: "GATE_TIMEOUT", Message: "x", Details: json.RawMessage(`[1,{"a":null}]`)}})
			done := runs.ItemFinished{WorkItemID: w.Key, Worker: w.Node.Worker, Attempt: 2, Inputs: map[string]string{"page_plan.json": sha}}
			switch w.Node.Name {
			case "build_plan":
				done.Items, done.Sections = []string{"docs", "blog"}, map[string]string{"docs": "OUTLINED"}
			case "validate":
				r.add(t, runs.GateRunFinished, runs.GateRun{Gate: "schema", Skipped: "not needed"})
				r.add(t, runs.IssueOpened, runs.IssueChange{IssueID: "i0123456789ab", Severity: "error", Gate: "links", Title: "x"})
				done.Outcome = []string{"failed", "ok"}[min(validated, 1)]
				validated++
			case "fix_next":
				done.Outcome = "fixed"
				r.add(t, runs.IssueResolved, runs.IssueChange{IssueID: "i0123456789ab"})
			}
			r.add(t, runs.ArtifactWritten, runs.Artifact{Name: "x.md", Path: "reports/x.md", SHA256: sha, Writer: w.Node.Worker})
			r.add(t, runs.WorkItemFinished, done)
		}
		if d.Wait {
			if r.view.State != runs.StateReadyForPR {
				t.Fatalf("it waits in %s", r.view.State)
			}
			r.add(t, runs.CommandReceived, runs.Command{ID: "c1", Type: "open_pr", Once: &runs.Once{Key: "k", Hash: sha}})
		}
	}
	if r.view.State != runs.StateDone || validated < 2 {
		t.Errorf("the run ended in %s after %d validations", r.view.State, validated)
	}
}

// recorder applies events to a view and checks them and the snapshot after each.
type recorder struct {
	view *runs.View
	now  time.Time
	lazy validate.Lazy
}

func (r *recorder) add(t *testing.T, kind runs.EventType, payload any) {
	t.Helper()
	r.now = r.now.Add(time.Second)
	e, err := runs.NewEvent("r_20260102_abcdefgh", runs.Draft{Type: kind, Payload: payload}, r.now)
	if err != nil {
		t.Fatal(err)
	}
	e.Seq, e.EventHash = r.view.Seq+1, strings.Repeat("b", 64)
	if err := r.view.Apply(e); err != nil {
		t.Fatal(err)
	}
	schema, err := r.lazy.Event(string(kind))
	r.obeys(t, string(kind), schema, err, e.Payload)
	snapshot, err := r.view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	schema, err = r.lazy.Artifact("snapshot.json")
	r.obeys(t, "snapshot after "+string(kind), schema, err, snapshot)
}

func (r *recorder) obeys(t *testing.T, what string, schema *validate.Schema, err error, raw []byte) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := schema.Check(raw); err != nil || len(problems) > 0 {
		t.Errorf("%s: %v, %v", what, problems, err)
	}
}
