package stdio

import "bytes"

// members calls visit with the name and the value of each member of a JSON
// object, as they are written (a name without its quotes). On valid JSON it
// returns true. On text that is not valid it may return false, or true with
// values that are not JSON, but it never reads out of bounds and never recurses:
// it also serves to find the id in a message that is refused.
func members(object []byte, visit func(name, value []byte)) bool {
	at, ok := expect(object, 0, '{')
	if !ok {
		return false
	}
	if _, empty := expect(object, at, '}'); empty {
		return true
	}
	for {
		from := space(object, at)
		if at = skip(object, from); at < from+2 || object[from] != '"' {
			return false
		}
		name := object[from+1 : at-1]
		if at, ok = expect(object, at, ':'); !ok {
			return false
		}
		from = space(object, at)
		if at = skip(object, from); at == from {
			return false
		}
		visit(name, object[from:at])
		if _, closed := expect(object, at, '}'); closed {
			return true
		}
		if at, ok = expect(object, at, ','); !ok {
			return false
		}
	}
}

// member returns the value of the member with the name, or nil. The name must
// be plain: an escaped spelling in the object does not match.
func member(object []byte, name string) (value []byte) {
	members(object, func(n, v []byte) {
		if string(n) == name {
			value = v
		}
	})
	return value
}

// expect returns the place behind c, which white space may precede.
func expect(b []byte, at int, c byte) (int, bool) {
	at = space(b, at)
	if at < len(b) && b[at] == c {
		return at + 1, true
	}
	return at, false
}

// space returns the place of the first byte from at that is not white space.
func space(b []byte, at int) int {
	for at < len(b) && bytes.IndexByte([]byte(" \t\r\n"), b[at]) >= 0 {
		at++
	}
	return at
}

// skip returns the place behind the value at at, or at if there is none whole.
func skip(b []byte, at int) int {
	depth := 0
	for i := at; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := closing(b, i)
			if end < 0 {
				return at
			}
			i = end
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			i = scalar(b, i) - 1
		}
		if depth <= 0 {
			if depth < 0 {
				return at
			}
			return i + 1
		}
	}
	return at
}

// closing returns the place of the quote that closes the string opened at at, or -1.
func closing(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// scalar returns the place behind the run of bytes from at that no bracket,
// quote, comma, colon or white space ends; at least one byte.
func scalar(b []byte, at int) int {
	if n := bytes.IndexAny(b[at+1:], "{}[]\",: \t\r\n"); n >= 0 {
		return at + 1 + n
	}
	return len(b)
}
