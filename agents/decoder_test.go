package agents_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/agents"
)

var update = flag.Bool("update", false, "write the golden files anew")

const demo = "/work/demo"

// custom are agents of a user's, as the configuration has them.
var custom = []agents.Custom{
	{Name: "SCRIPT", Command: []string{"./agent.sh", "{prompt}"}, SessionPattern: `session: (\S+)`},
	{Name: "json-agent", Command: []string{"json-agent", "-"}, Resume: []string{"json-agent", "--resume", "{session}", "-"}, Output: "jsonl", SessionField: "meta.id"},
}

func registry(t testing.TB) agents.Registry {
	t.Helper()
	all, err := agents.CLIs(agents.Options{Custom: custom})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// decode feeds a recorded stream to a decoder. Lines that begin with "2 " are of standard
// error.
func decode(t testing.TB, d agents.Decoder, recorded []byte) (all []agents.Entry) {
	t.Helper()
	at := time.Date(2026, 9, 1, 10, 0, 0, 0, time.UTC)
	var lines agents.Lines
	take := func(l agents.Line) error {
		raw, stderr := bytes.CutPrefix(l.Data, []byte("2 "))
		all = append(all, d.Line(raw, stderr, at)...)
		at = at.Add(time.Second)
		return nil
	}
	if err := lines.Feed(recorded, take); err != nil {
		t.Fatal(err)
	}
	if err := lines.End(take); err != nil {
		t.Fatal(err)
	}
	return all
}

// Each agent has recorded streams, and each is read as its golden file says: the entries
// and what they come to.
func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	for _, cli := range registry(t) {
		streams, err := filepath.Glob(filepath.Join("testdata", strings.ToLower(cli.Name()), "*.jsonl"))
		if err != nil || len(streams) < 2 {
			t.Errorf("%s has no recorded streams: one that goes well and one that fails", cli.Name())
		}
		for _, path := range streams {
			t.Run(cli.Name()+"/"+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				recorded, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				d := cli.Decoder(demo)
				var out bytes.Buffer
				enc := json.NewEncoder(&out)
				enc.SetEscapeHTML(false)
				for _, e := range decode(t, d, recorded) {
					enc.Encode(e)
				}
				enc.SetIndent("", "  ")
				enc.Encode(d.Summary())
				golden(t, strings.TrimSuffix(path, ".jsonl")+".golden", out.Bytes())
			})
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// A line that is not what the CLI writes is shown or passed over, and the next one is read.
func TestADecoderGoesOnAfterWhateverItIsFed(t *testing.T) {
	t.Parallel()
	huge := append([]byte(`{"type":"`), bytes.Repeat([]byte("x"), 17<<20)...)
	hostile := [][]byte{
		[]byte("not JSON"), []byte(`{"type":`), []byte(`[]`), []byte(`null`), []byte(`"text"`), []byte(`{}`), []byte(`{"type":5}`), []byte(`{"type":null,"item":[]}`),
		[]byte(`{"type":"item.completed","item":{"type":"command_execution","exit_code":"no"}}`), []byte("\xff\xfe\x00"),
		[]byte("{\"type\":\"item.completed\",\"item\":{\"type\":\"mcp_tool_call\",\"tool\":\"t\",\"arguments\":{\"q\":\"\xff\"},\"status\":\"completed\"}}"),
		[]byte(strings.Repeat("[", 100_000)),
		[]byte(`{"type":"from.the.future","payload":{"a":[1,2,3]}}`), huge, nil, []byte("   "), []byte("\x1b[31mred\x1b[0m"),
	}
	for _, cli := range registry(t) {
		t.Run(cli.Name(), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("testdata", strings.ToLower(cli.Name()), "edit.jsonl")
			recorded, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d := cli.Decoder(demo)
			var stream []byte
			for _, line := range hostile {
				stream = append(append(stream, line...), '\n')
			}
			for _, e := range decode(t, d, stream) {
				checkEntry(t, e)
			}
			decode(t, d, append(recorded, `{"type":"half`...))
			want := cli.Decoder(demo)
			decode(t, want, recorded)
			got, clean := d.Summary(), want.Summary()
			if got.Thread != clean.Thread || got.Usage != clean.Usage || clean.Thread == "" {
				t.Errorf("after it: %+v, not %+v", got, clean)
			}
		})
	}
}

// checkEntry says what is wrong with an entry that a decoder made.
func checkEntry(t *testing.T, e agents.Entry) {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	if e.Kind != agents.NormalizedEntry || len(b) > 2<<20 || !utf8.Valid(b) {
		t.Fatalf("an entry of %s with %d bytes", e.Kind, len(b))
	}
	var back agents.Entry
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	if again, _ := json.Marshal(back); !bytes.Equal(b, again) {
		t.Fatalf("%s comes back as %s", b, again)
	}
	if strings.ContainsAny(e.Norm.Content, "\x00\x1b\r") {
		t.Fatalf("%q is not safe to show", e.Norm.Content)
	}
}

// A reader that comes later feeds the same lines again: it gets the same entries.
func TestADecoderDependsOnItsLinesAlone(t *testing.T) {
	t.Parallel()
	for _, cli := range registry(t) {
		recorded, err := os.ReadFile(filepath.Join("testdata", strings.ToLower(cli.Name()), "edit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		once, again := decode(t, cli.Decoder(demo), recorded), decode(t, cli.Decoder(demo), recorded)
		if diff := cmp.Diff(once, again); diff != "" {
			t.Errorf("%s: %s", cli.Name(), diff)
		}
	}
}

func FuzzDecoders(f *testing.F) {
	all := registry(f)
	paths, _ := filepath.Glob("testdata/*/*.jsonl")
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, cli := range all {
			d := cli.Decoder(demo)
			for _, e := range decode(t, d, stream) {
				checkEntry(t, e)
			}
			if b, err := json.Marshal(d.Summary()); err != nil || len(b) > 1<<20 {
				t.Fatalf("%s: a summary of %d bytes, %v", cli.Name(), len(b), err)
			}
		}
	})
}
