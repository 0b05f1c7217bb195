package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

var plainKey = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// SetFrontmatter returns the page with one top-level key of its front matter
// set. The value is a YAML scalar on one line, whatever the format of the front
// matter: it is written in the format's own way. A page without front matter
// gets a YAML block. All else stays byte for byte.
//
// The error is a fault INVALID_INPUT: the scalar is none, the front matter
// cannot be read, or it is written such that the key cannot be set safely (a
// flow mapping, for one). The result was read back before it is returned.
func SetFrontmatter(src []byte, key, yamlScalar string) ([]byte, error) {
	value, err := readScalar(yamlScalar)
	if err != nil {
		return nil, err
	}
	if !plainKey.MatchString(key) {
		return nil, fault.New(fault.InvalidInput, "the front matter key %q is not letters, digits, _ and -", key)
	}
	if err := checkText(src); err != nil {
		return nil, err
	}
	front, body := readFront(src)
	if front.Err != nil {
		return nil, fault.New(fault.InvalidInput, "the front matter cannot be read").Because(front.Err)
	}
	e := edit{src: src, front: front, block: findFront(src), body: body, key: key, value: value, eol: "\n"}
	if first, _, ok := bytes.Cut(src, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		e.eol = "\r\n"
	}
	for _, out := range e.candidates() {
		if e.holds(out) {
			return out, nil
		}
	}
	return nil, fault.New(fault.InvalidInput, "the front matter is written in a way that does not allow setting %q", key)
}

// scalar is a value in the three notations.
type scalar struct{ kind, yaml, toml, json string }

func readScalar(text string) (scalar, error) {
	text = strings.TrimSpace(text)
	bad := fault.New(fault.InvalidInput, "the front matter value is not a YAML scalar on one line")
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return scalar{}, bad
	}
	fields, _, err := parseFields(YAML, []byte("k: "+text+"\nend: 1\n"))
	if err != nil || len(fields) != 2 || fields[0].Key != "k" {
		return scalar{}, bad
	}
	f := fields[0]
	s := scalar{kind: f.Type, yaml: text, toml: f.Text, json: f.Text}
	switch f.Type {
	case String:
		s.json = quote(f.Text)
		s.toml = s.json
	case Date:
		s.json = quote(f.Text)
	case Number, Boolean:
	default:
		return scalar{}, bad
	}
	return s, nil
}

func quote(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// edit is one key to set.
type edit struct {
	src   []byte
	front Front
	block block
	body  int
	key   string
	value scalar
	eol   string
}

// candidates returns ways to write the key, best first. Not all of them are
// right for every page: the caller takes the first that holds.
func (e edit) candidates() [][]byte {
	field, found := e.front.Field(e.key)
	switch {
	case e.front.Format == "":
		return [][]byte{e.addBlock()}
	case e.front.Format == JSON:
		return e.editJSON()
	case found:
		return e.replaceLines(field)
	case e.front.Format == TOML: // before any table
		return [][]byte{e.splice(e.block.start, e.block.start, e.line())}
	}
	return [][]byte{e.splice(e.block.end, e.block.end, e.line())}
}

func (e edit) splice(start, end int, text string) []byte {
	return slices.Concat(e.src[:start], []byte(text), e.src[end:])
}

func (e edit) line() string {
	if e.front.Format == TOML {
		return e.key + " = " + e.value.toml + e.eol
	}
	return e.key + ": " + e.value.yaml + e.eol
}

func (e edit) addBlock() []byte {
	gap := ""
	if rest := e.src[e.body:]; len(rest) > 0 && rest[0] != '\n' && rest[0] != '\r' {
		gap = e.eol
	}
	return e.splice(e.body, e.body, "---"+e.eol+e.line()+"---"+e.eol+gap)
}

var trailingComment = lazyregexp.New(`[ \t]+#[^"'\r\n]*\r?\n?$`)

// replaceLines replaces the lines of the field: as they are known in YAML; in
// TOML, where the decoder does not tell, one more each time.
func (e edit) replaceLines(f Field) [][]byte {
	at := e.offset(f.Line)
	end := nextLine(e.src, at)
	var out [][]byte
	if e.front.Format == YAML {
		end = e.valueEnd(f)
	}
	if comment := trailingComment.Find(e.src[at:end]); comment != nil {
		out = append(out, e.splice(at, end, strings.TrimSuffix(e.line(), e.eol)+string(comment)))
	}
	for tries := 0; tries < 64; tries++ {
		out = append(out, e.splice(at, end, e.line()))
		if end >= e.block.end || e.front.Format == YAML {
			break
		}
		end = nextLine(e.src, end)
	}
	return out
}

// valueEnd returns where the value of a YAML field ends: before the next field,
// without the blank lines and comments that belong to that.
func (e edit) valueEnd(f Field) int {
	last := e.front.EndLine - 1
	for _, other := range e.front.Fields {
		if other.Line > f.Line {
			last = min(last, other.Line-1)
		}
	}
	for ; last > f.Line; last-- {
		line := e.src[e.offset(last):e.offset(last+1)]
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			break
		}
	}
	return e.offset(last + 1)
}

// offset returns where a line of the front matter starts.
func (e edit) offset(line int) int {
	at := e.block.open
	for n := e.front.Line; n < line; n++ {
		at = nextLine(e.src, at)
	}
	return at
}

func (e edit) editJSON() [][]byte {
	content := e.src[e.block.start:e.block.end]
	if start, end, ok := jsonValue(content, e.key); ok {
		return [][]byte{e.splice(e.block.start+start, e.block.start+end, e.value.json)}
	}
	comma := ","
	if len(e.front.Fields) == 0 {
		comma = ""
	}
	at := e.block.start + 1
	return [][]byte{e.splice(at, at, e.eol+"  "+quote(e.key)+": "+e.value.json+comma)}
}

// jsonValue returns where the value of a top-level key stands.
func jsonValue(content []byte, key string) (start, end int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(content))
	if _, err := dec.Token(); err != nil {
		return 0, 0, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return 0, 0, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return 0, 0, false
		}
		if name == key {
			end := int(dec.InputOffset())
			return end - len(raw), end, true
		}
	}
	return 0, 0, false
}

// holds reports whether the page reads back with the key set and all else as it was.
func (e edit) holds(out []byte) bool {
	front, body := readFront(out)
	if front.Err != nil || !bytes.Equal(bytes.TrimLeft(out[body:], "\r\n"), bytes.TrimLeft(e.src[e.body:], "\r\n")) {
		return false
	}
	got, ok := front.Field(e.key)
	if !ok || !got.Is(e.value.kind) || got.Text == "" && e.value.json != `""` {
		return false
	}
	return slices.Equal(others(front, e.key), others(e.front, e.key))
}

// others describes every field but the key's.
func others(f Front, key string) []string {
	var out []string
	for _, field := range f.Fields {
		if field.Key != key {
			out = append(out, fmt.Sprintf("%s\x00%s\x00%s", field.Key, field.Type, field.Text))
		}
	}
	slices.Sort(out)
	return out
}
