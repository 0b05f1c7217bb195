package clients

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/gantry-run/gantry/internal/fault"
)

// mergeJSON changes a file of JSON, which may have comments and commas at the end of
// lists.
func mergeJSON(c Client, file []byte, s Server) ([]byte, error) {
	if file == nil {
		file = []byte("{\n}\n")
	}
	path := []string{c.key, s.Name}
	out, err := setMember(file, path, append(c.entry(s), others(file, path)...))
	if err != nil {
		return nil, err
	}
	before, after := decoded(file), decoded(out)
	if before == nil || after == nil || !sameBut(before, after, c.key, s.Name) {
		return nil, unusable(c, "it cannot be changed without touching something else")
	}
	return out, nil
}

// transportMembers are the members of an entry that say how a server is reached.
var transportMembers = []string{"type", "command", "args", "url", "httpUrl", "headers"}

// others returns what a person has set of an entry besides how the server is reached.
func others(file []byte, path []string) (out members) {
	root, err := hujson.Parse(file)
	if err != nil {
		return nil
	}
	at := &root
	for _, name := range path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil
		}
		if at = find(o, name); at == nil {
			return nil
		}
	}
	entry, _ := at.Value.(*hujson.Object)
	if entry == nil {
		return nil
	}
	for _, m := range entry.Members {
		var name string
		l, ok := m.Name.Value.(hujson.Literal)
		if !ok || json.Unmarshal(l, &name) != nil || slices.Contains(transportMembers, name) {
			continue
		}
		value := m.Value.Clone()
		value.Standardize()
		out = append(out, member{name, json.RawMessage(bytes.TrimSpace(value.Pack()))})
	}
	return out
}

func unusable(c Client, why string) error {
	return fault.New(fault.ConfigInvalid, "the configuration of %s is left alone: %s", c.Title, why).
		WithHint("correct the file, or add by hand what gantry config %s prints", c.Name)
}

// decoded returns what the file says, nil if it is no object.
func decoded(file []byte) map[string]any {
	plain, err := hujson.Standardize(bytes.Clone(file))
	var m map[string]any
	if err != nil || json.Unmarshal(plain, &m) != nil {
		return nil
	}
	return m
}

// sameBut reports whether two files say the same but for one entry.
func sameBut(a, b map[string]any, key, name string) bool {
	without := func(m map[string]any) map[string]any {
		servers, _ := m[key].(map[string]any)
		delete(servers, name)
		if len(servers) == 0 {
			delete(m, key)
		}
		return m
	}
	return reflect.DeepEqual(without(a), without(b))
}

// setMember sets a member of an object in an object. Nothing else of the text changes.
func setMember(file []byte, path []string, value any) ([]byte, error) {
	root, err := hujson.Parse(file)
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the file is not JSON").Because(err)
	}
	at := &root
	for i, name := range path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fault.New(fault.ConfigInvalid, "in the file, %q is no object", strings.Join(path[:i], "."))
		}
		found := find(o, name)
		if found == nil {
			for _, inner := range slices.Backward(path[i+1:]) {
				value = members{{inner, value}}
			}
			return insert(file, at, o, name, value)
		}
		at = found
	}
	text, err := indented(value, indentAt(file, at.StartOffset), unit(file))
	if err != nil {
		return nil, err
	}
	return splice(file, at.StartOffset, at.EndOffset, text), nil
}

// find returns the last member of a name, which is the one that counts.
func find(o *hujson.Object, name string) (found *hujson.Value) {
	for i := range o.Members {
		var text string
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && json.Unmarshal(l, &text) == nil && text == name {
			found = &o.Members[i].Value
		}
	}
	return found
}

// insert adds a member behind the others of an object.
func insert(file []byte, at *hujson.Value, o *hujson.Object, name string, value any) ([]byte, error) {
	step := unit(file)
	outer := indentAt(file, at.StartOffset)
	inner := outer + step
	if len(o.Members) > 0 && ownLine(file, o.Members[0].Name.StartOffset) {
		inner = indentAt(file, o.Members[0].Name.StartOffset)
	}
	text, err := indented(value, inner, step)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	brace := at.EndOffset - 1
	end := len(bytes.TrimRight(file[:brace], " \t\r\n"))
	added := "\n" + inner + string(key) + ": " + text
	if !bytes.Contains(file[end:brace], []byte("\n")) {
		added += "\n" + outer
	}
	out := splice(file, end, end, added)
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra == nil { // without a comma behind the last one
		last := o.Members[n-1].Value.EndOffset
		out = splice(out, last, last, ",")
	}
	return out, nil
}

// indented returns a value as text whose further lines are indented.
func indented(value any, indent, step string) (string, error) {
	var raw bytes.Buffer
	if err := encode(&raw, value); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw.Bytes(), indent, step); err != nil {
		return "", err
	}
	return b.String(), nil
}

// unit returns what the file indents by.
func unit(file []byte) string {
	for line := range bytes.SplitSeq(file, []byte("\n")) {
		if rest := bytes.TrimLeft(line, " \t"); len(rest) < len(line) && len(rest) > 0 {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// indentAt returns the white space that a line begins with.
func indentAt(file []byte, at int) string {
	begin := bytes.LastIndexByte(file[:at], '\n') + 1
	line := file[begin:at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine reports whether nothing is before a place on its line.
func ownLine(file []byte, at int) bool {
	begin := bytes.LastIndexByte(file[:at], '\n') + 1
	return begin > 0 && len(bytes.TrimSpace(file[begin:at])) == 0
}

func splice(file []byte, from, to int, text string) []byte {
	out := make([]byte, 0, len(file)+len(text))
	out = append(out, file[:from]...)
	out = append(out, text...)
	return append(out, file[to:]...)
}
