package stdio

import (
	"encoding/json"
	"testing"

	"github.com/gantry-run/gantry/validate"
)

func FuzzMembersAgreeWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":"}","b":{"c":[1,{"d":"\"]"}]},"e":null}`, `{ "a" : [ ] , "b" : -1.5e3 }`,
		`{"a":`, `{"a":"`, `{"a":"\`, `{"a"`, `{,}`, `{"a":,}`, `{"a":]}`, `{"a":1`, `{"a":{"b":[}`, `[1]`, ``, `{"`, `{"a":1,}`, `{"":""}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]string{}
		ok := members(raw, func(name, value []byte) {
			key, _ := unquote([]byte(`"` + string(name) + `"`))
			got[key] = string(value)
		})
		var want map[string]json.RawMessage
		if validate.Strict(raw, validate.Limits{}) != nil || json.Unmarshal(raw, &want) != nil || want == nil {
			return // not an object: members only has to return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("%q: got %q (%v), want %q", raw, got, ok, want)
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("%q: member %q is %q, want %q", raw, name, got[name], value)
			}
		}
	})
}

func FuzzDecodeNeverTakesABadLine(f *testing.F) {
	for _, s := range []string{
		ping, initialize, ready, cancelled("1"), callTool("1", "echo", "x"), `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, `{"id":{}}`, `[{}]`, `1`, `{"jsonrpc":"2.0","method":"x","params":[]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) == 0 {
			return
		}
		m, refused := decode(line, 0)
		if refused != nil {
			if !json.Valid(encodeAnswer(refused.id, nil, nil)) && !json.Valid(refused.id) {
				t.Errorf("%q is refused with the id %q", line, refused.id)
			}
			return
		}
		if !json.Valid(line) {
			t.Errorf("%q is taken", line)
		}
		if m.kind == aCall && (m.method == "" || !json.Valid(m.id.text)) {
			t.Errorf("%q is taken as %+v", line, m)
		}
	})
}
