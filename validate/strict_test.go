package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func kindOf(t testing.TB, err error) StrictKind {
	t.Helper()
	if err == nil {
		return ""
	}
	var s *StrictError
	if !errors.As(err, &s) {
		t.Fatalf("error %T is not a *StrictError", err)
	}
	return s.Kind
}

func TestStrictAcceptsAndRefuses(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(last string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + `"` + last + `":0}`
	}
	tests := []struct {
		name, in string
		want     StrictKind
	}{
		{"scalar", `1`, ""},
		{"white space around", " \t\r\n{} \n", ""},
		{"everything", `{"a":[1,-0,1.5e+3,2E-2,true,false,null,"x",{},[]],"b":{"a":1}}`, ""},
		{"escapes", `"\"\\\/\b\f\n\r\tA😀"`, ""},
		{"same key in sibling objects", `[{"a":1},{"a":2}]`, ""},
		{"same key at other depths", `{"a":{"a":{"a":1}},"b":1}`, ""},
		{"empty key", `{"":1}`, ""},
		{"many keys", many("other"), ""},
		{"depth 64", nest(64), ""},

		{"empty", ``, StrictSyntax},
		{"only space", ` `, StrictSyntax},
		{"word", `hello`, StrictSyntax},
		{"two values", `{} {}`, StrictSyntax},
		{"byte order mark", "\xef\xbb\xbf{}", StrictSyntax},
		{"trailing comma in array", `[1,]`, StrictSyntax},
		{"trailing comma in object", `{"a":1,}`, StrictSyntax},
		{"missing value", `{"a":}`, StrictSyntax},
		{"missing comma", `[1 2]`, StrictSyntax},
		{"crossed brackets", `[{]}`, StrictSyntax},
		{"unopened", `]`, StrictSyntax},
		{"unclosed", `{"a":[1`, StrictSyntax},
		{"unquoted key", `{a:1}`, StrictSyntax},
		{"leading zero", `01`, StrictSyntax},
		{"bare minus", `-`, StrictSyntax},
		{"no fraction digits", `1.`, StrictSyntax},
		{"no exponent digits", `1e+`, StrictSyntax},
		{"plus", `+1`, StrictSyntax},
		{"NaN", `NaN`, StrictSyntax},
		{"cut literal", `tru`, StrictSyntax},
		{"control character", "\"a\x01\"", StrictSyntax},
		{"newline in string", "\"a\nb\"", StrictSyntax},
		{"unknown escape", `"\x"`, StrictSyntax},
		{"short escape", `"\u12"`, StrictSyntax},
		{"unclosed string", `"abc`, StrictSyntax},
		{"NUL", "\x00", StrictSyntax},
		{"NUL after the text", "1\x00", StrictSyntax},

		{"invalid byte", "\"\xff\"", StrictUTF8},
		{"overlong", "\"\xc0\xaf\"", StrictUTF8},
		{"encoded surrogate", "\"\xed\xa0\x80\"", StrictUTF8},
		{"cut rune", "\"\xe2\x82\"", StrictUTF8},
		{"invalid byte in key", "{\"\xff\":1}", StrictUTF8},
		{"lone high surrogate", `"\ud83d"`, StrictUTF8},
		{"lone low surrogate", `"\ude00"`, StrictUTF8},
		{"high then a letter", `"\ud83da"`, StrictUTF8},
		{"two highs", `"\ud83d\ud83d"`, StrictUTF8},

		{"duplicate", `{"a":1,"b":2,"a":3}`, StrictDuplicateKey},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, StrictDuplicateKey},
		{"duplicate by surrogate escape", `{"😀":1,"\ud83d\ude00":2}`, StrictDuplicateKey},
		{"duplicate nested", `{"a":[{"b":1,"b":2}]}`, StrictDuplicateKey},
		{"duplicate after a nested object", `{"a":{"c":1},"b":{"a":1},"a":2}`, StrictDuplicateKey},
		{"duplicate among many", many("k0"), StrictDuplicateKey},
		{"duplicate by escape among many", many(`\u006b99`), StrictDuplicateKey},

		{"depth 65", nest(65), StrictDepth},
		{"depth of objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), StrictDepth},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := kindOf(t, Strict([]byte(tc.in), Limits{})); got != tc.want {
				t.Errorf("Strict(%.80q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestStrictErrorNamesThePlaceAndTheKey(t *testing.T) {
	tests := []struct{ in, want string }{
		{`{"a":1,"\u0061":2}`, `duplicate key "a" at byte 7`},
		{`[1,x]`, `invalid JSON at byte 3`},
		{"[\"\xff\"]", `invalid UTF-8 at byte 2`},
		{strings.Repeat("[", 65), `nested too deep at byte 64`},
		{`{"` + strings.Repeat("é", 40) + `":1,"` + strings.Repeat("é", 40) + `":1}`,
			`duplicate key "` + strings.Repeat("é", 32) + `" at byte 86`},
	}
	for _, tc := range tests {
		if err := Strict([]byte(tc.in), Limits{}); err == nil || err.Error() != tc.want {
			t.Errorf("Strict(%.40q) = %v, want %s", tc.in, err, tc.want)
		}
	}
}

func TestStrictDepthIsConfigurable(t *testing.T) {
	if err := Strict([]byte(`[[[]]]`), Limits{Depth: 2}); kindOf(t, err) != StrictDepth {
		t.Errorf("depth 3 under a limit of 2: %v", err)
	}
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	if err := Strict([]byte(deep), Limits{Depth: 1000}); err != nil {
		t.Errorf("depth 1000 under a limit of 1000: %v", err)
	}
}

func TestStrictReadsHostileText(t *testing.T) {
	const size = 4 << 20
	var unique strings.Builder
	for i := 0; unique.Len() < size; i++ {
		fmt.Fprintf(&unique, `"%d":0,`, i)
	}
	var long []string
	for i := range fewKeys {
		long = append(long, fmt.Sprintf(`"\u0061%s%d":0`, strings.Repeat("a", size/fewKeys), i))
	}
	tests := []struct {
		name, in string
		want     StrictKind
	}{
		{"10000 arrays", strings.Repeat("[", 10_000), StrictDepth},
		{"4 MiB of arrays", strings.Repeat("[", size), StrictDepth},
		{"10000 objects", strings.Repeat(`{"a":`, 10_000), StrictDepth},
		{"4 MiB of keys in one object", "{" + unique.String() + `"0":0}`, StrictDuplicateKey},
		{"long escaped keys with one beginning", "{" + strings.Join(long, ",") + "}", ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := kindOf(t, Strict([]byte(tc.in), Limits{})); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestStrictAllocatesOnceForAnOrdinaryCall(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if err := Strict(ordinaryCall, Limits{}); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
}

var ordinaryCall = []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"read_file",` +
	`"arguments":{"path":"docs/guide.md","offset":0,"limit":200,"tags":["a","b",{"c":null}]},` +
	`"_meta":{"progressToken":"p-12","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}`)

// oracle says what Strict should say, from encoding/json's decoder; "" or a
// kind. Texts that break two rules may be named for either.
func oracle(raw []byte, depth int) map[StrictKind]bool {
	broken := map[StrictKind]bool{}
	if !json.Valid(raw) {
		broken[StrictSyntax] = true
	}
	if !utf8.Valid(raw) {
		broken[StrictUTF8] = true
	}
	type level struct {
		object, atKey bool
		seen          map[string]bool
	}
	var open []*level
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) || err != nil {
			return broken
		}
		var top *level
		if len(open) > 0 {
			top = open[len(open)-1]
		}
		switch tok {
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
			continue
		}
		if top != nil && top.object {
			if top.atKey {
				if name := tok.(string); top.seen[name] {
					broken[StrictDuplicateKey] = true
				} else {
					top.seen[name] = true
				}
				top.atKey = false
				continue
			}
			top.atKey = true
		}
		if d, ok := tok.(json.Delim); ok {
			if open = append(open, &level{object: d == '{', atKey: true, seen: map[string]bool{}}); len(open) > depth {
				broken[StrictDepth] = true
			}
		}
	}
}

func FuzzStrictAgreesWithEncodingJSON(f *testing.F) {
	for _, s := range []string{
		``, `1`, `-0.5e3`, `"a"`, `"\ud83d\ude00"`, `"\ud83d"`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `[[[[[]]]]]`,
		`[1,2,{"x":[true,false,null]}]`, `{"a":{"b":{"c":1}},"d":[]}`, "\"\xff\"", "{\"a\x01\":1}", `[1,]`, `{"a" : 1 , "b":2 } `,
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"a":1}`,
		string(ordinaryCall),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const depth = 8
		got := kindOf(t, Strict(raw, Limits{Depth: depth}))
		want := oracle(raw, depth)
		switch {
		case got == "" && len(want) > 0:
			t.Errorf("accepted %q, which breaks %v", raw, want)
		case got == StrictUTF8 && bytes.Contains(raw, []byte(`\u`)):
			// encoding/json reads a lone surrogate as U+FFFD and so cannot tell.
		case got == StrictDuplicateKey && !want[StrictSyntax] && bytes.Contains(raw, []byte(`\u`)):
			// Decoded by encoding/json: agreed, or it would not be among want.
			if !want[got] {
				t.Errorf("refused %q as %s, want %v", raw, got, want)
			}
		case got != "" && len(want) == 0:
			t.Errorf("refused %q as %s, which breaks no rule", raw, got)
		case got == StrictSyntax && !want[StrictSyntax]:
			t.Errorf("refused %q as syntax, want %v", raw, want)
		}
	})
}

func BenchmarkStrict(b *testing.B) {
	big := []byte(`{"items":[` + strings.TrimSuffix(strings.Repeat(string(ordinaryCall)+",", 2000), ",") + `]}`)
	for _, bench := range []struct {
		name string
		raw  []byte
	}{{"call", ordinaryCall}, {"large", big}} {
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(bench.raw)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Strict(bench.raw, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"/encoding-json-valid", func(b *testing.B) {
			b.SetBytes(int64(len(bench.raw)))
			for b.Loop() {
				_ = json.Valid(bench.raw)
			}
		})
	}
}
