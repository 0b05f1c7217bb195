package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
)

// walkJSON applies text to every string of a JSON text, in place, and masks the
// scalar value of every member with a secret's name.
func walkJSON(raw []byte, text func(string) string) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	if !json.Valid(raw) {
		return quoteJSON(text(strings.ToValidUTF8(string(raw), "\uFFFD")))
	}
	var out bytes.Buffer
	secret := false // whether the value to come has a secret's name
	for i := 0; i < len(raw); {
		end := jsonTokenEnd(raw, i)
		lit := raw[i:end]
		i = end
		switch c := lit[0]; {
		case c == '"' && isMemberName(raw, end):
			name := unquoteJSON(lit)
			secret = secretMember(name)
			writeString(&out, lit, text(name), name)
		case c == '"':
			value := unquoteJSON(lit)
			clean := text(value)
			if secret && value != "" {
				clean = mask("field")
			}
			secret = false
			writeString(&out, lit, clean, value)
		case secret && (c == '-' || digit.has(c)):
			secret = false
			out.Write(quoteJSON(mask("field")))
		default:
			if c == '{' || c == '[' || c == ',' {
				secret = false
			}
			out.Write(lit)
		}
	}
	return out.Bytes()
}

func writeString(out *bytes.Buffer, lit []byte, clean, value string) {
	if clean == value {
		out.Write(lit)
		return
	}
	out.Write(quoteJSON(clean))
}

// jsonTokenEnd returns the end of the string or number at i, or of one other byte.
func jsonTokenEnd(raw []byte, i int) int {
	switch c := raw[i]; {
	case c == '"':
		for i++; raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		return i + 1
	case c == '-' || digit.has(c):
		for i++; i < len(raw) && (alnum.has(raw[i]) || bytes.IndexByte([]byte("+-."), raw[i]) >= 0); i++ {
		}
		return i
	}
	return i + 1
}

func isMemberName(raw []byte, i int) bool {
	for ; i < len(raw); i++ {
		switch raw[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return raw[i] == ':'
		}
	}
	return false
}

func unquoteJSON(lit []byte) string {
	if bytes.IndexByte(lit, '\\') < 0 {
		return string(lit[1 : len(lit)-1])
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return string(lit) // not reached: the text is valid JSON
	}
	return s
}

// secretMember reports whether a member's name says that its value is a secret.
func secretMember(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, word := range []string{"password", "passwd", "secret", "api_key", "apikey", "access_key",
		"private_key", "token", "credential", "credentials", "authorization"} {
		if rest, ok := strings.CutSuffix(name, word); ok && (rest == "" || strings.HasSuffix(rest, "_")) {
			return true
		}
	}
	return name == "pwd"
}

// quoteJSON encodes s as a JSON string without escaping <, > and &.
func quoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes, and a Buffer always takes it
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// mustJSON encodes a value made of strings, numbers and their collections.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}
