package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/specs"
)

type (
	in struct {
		ID    string   `json:"id"`
		Limit int      `json:"limit"`
		Tags  []string `json:"tags"`
	}
	base struct {
		OK bool `json:"ok"`
	}
	item struct {
		Name string `json:"name"`
	}
	out struct {
		base
		Items  []item          `json:"items"`
		By     map[string]item `json:"by"`
		At     *time.Time      `json:"at,omitempty"`
		Free   json.RawMessage `json:"free"`
		hidden int             //lint:ignore U1000 Mismatch must pass it over
		Not    int             `json:"-"`
	}
	texted struct {
		OK bool `json:"ok"`
	}
)

func (texted) Text() string { return "in short" }

const (
	inSchema  = `{"type":"object","properties":{"id":{},"limit":{},"tags":{"type":"array","items":{"type":"string"}},"idempotency_key":{}}}`
	outSchema = `{"type":"object","required":["ok","items"],"properties":{"ok":{},"at":{"type":"string"},
		"items":{"type":"array","items":{"type":"object","properties":{"name":{}}}},
		"by":{"type":"object","additionalProperties":{"type":"object","properties":{"name":{}}}},
		"free":{"type":"object","properties":{"whatever":{}}}}}`
)

func spec(in, out string) specs.Tool {
	return specs.Tool{Toolset: "launch", Name: "x", Idempotency: []string{"idempotency_key"}, Input: json.RawMessage(in), Output: json.RawMessage(out)}
}

func TestAStructThatFitsItsSchemaHasNoMismatch(t *testing.T) {
	x := New(spec(inSchema, outSchema), func(context.Context, *guard.Call, in) (out, error) { return out{}, nil })
	if got := x.Mismatch(); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

func TestEveryDifferenceIsReported(t *testing.T) {
	x := New(spec(
		strings.Replace(inSchema, `"limit"`, `"count"`, 1),
		strings.NewReplacer(`"items":{"type":"object","properties":{"name"`, `"items":{"type":"object","properties":{"title"`,
			`"additionalProperties":{"type":"object","properties":{"name"`, `"additionalProperties":{"type":"object","properties":{"key"`,
			`"items"]`, `"items","at"]`).Replace(outSchema),
	), func(context.Context, *guard.Call, in) (*out, error) { return nil, nil })
	want := []string{
		"input schema has count, the struct does not",
		"input struct has limit, the schema does not",
		"output struct may leave out at, the schema requires it",
		"output.by.* schema has key, the struct does not",
		"output.by.* struct has name, the schema does not",
		"output.items[] schema has title, the struct does not",
		"output.items[] struct has name, the schema does not",
	}
	if diff := cmp.Diff(want, x.Mismatch()); diff != "" {
		t.Error(diff)
	}
}

func TestHandlerGetsItsArgumentsAndGivesJSON(t *testing.T) {
	x := New(spec(inSchema, outSchema), func(_ context.Context, _ *guard.Call, a in) (out, error) {
		if a.ID != "a" || a.Limit != 7 || len(a.Tags) != 2 {
			t.Errorf("got %+v", a)
		}
		return out{Free: json.RawMessage(`{}`)}, nil
	})
	r, err := x.Handle(t.Context(), &guard.Call{Arguments: json.RawMessage(`{"id":"a","limit":7,"tags":["b","c"]}`)})
	if err != nil || !json.Valid(r.JSON) || r.Text != "" {
		t.Errorf("%s, %q, %v", r.JSON, r.Text, err)
	}
}

func TestATextStandsForAResult(t *testing.T) {
	x := New(spec(inSchema, outSchema), func(context.Context, *guard.Call, struct{}) (texted, error) { return texted{true}, nil })
	r, err := x.Handle(t.Context(), &guard.Call{Arguments: json.RawMessage(`{}`)})
	if err != nil || r.Text != "in short" || string(r.JSON) != `{"ok":true}` {
		t.Errorf("%s, %q, %v", r.JSON, r.Text, err)
	}
}

// A schema calls 50.0 an integer, and Go does not.
func TestWhatTheSchemaAllowsAndGoDoesNotIsTheCallersFault(t *testing.T) {
	x := New(spec(inSchema, outSchema), func(context.Context, *guard.Call, in) (out, error) { return out{}, nil })
	for _, raw := range []string{`{"limit":50.5}`, `{"limit":1e30}`, `{"tags":{}}`, `[]`} {
		if _, err := x.Handle(t.Context(), &guard.Call{Arguments: json.RawMessage(raw)}); !fault.Is(err, fault.SchemaValidationFailed) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAHandlersErrorIsPassedOn(t *testing.T) {
	mine := errors.New("mine")
	x := New(spec(inSchema, outSchema), func(context.Context, *guard.Call, in) (out, error) { return out{Free: json.RawMessage(`{`)}, mine })
	if r, err := x.Handle(t.Context(), &guard.Call{Arguments: json.RawMessage(`{}`)}); !errors.Is(err, mine) || r.JSON != nil {
		t.Errorf("%s, %v", r.JSON, err)
	}
	y := New(spec(inSchema, outSchema), func(context.Context, *guard.Call, in) (out, error) { return out{Free: json.RawMessage(`{`)}, nil })
	if _, err := y.Handle(t.Context(), &guard.Call{Arguments: json.RawMessage(`{}`)}); !fault.Is(fault.From(err), fault.Internal) {
		t.Errorf("a result that does not encode gives %v", err)
	}
}
