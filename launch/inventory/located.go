package inventory

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// located is a document as the list of its scalar values, each with the way to
// it and its line: what the decoders of the standard library do not keep.
type located []leaf

// leaf is one scalar. The way holds object keys and array indexes.
type leaf struct {
	way []string
	dossier.Stated
}

const maxNesting = 64

var errTooDeep = errors.New("nested too deeply")

// at returns the scalar at the way, or nothing.
func (d located) at(way ...string) dossier.Stated {
	for _, l := range d {
		if equalWay(l.way, way) {
			return l.Stated
		}
	}
	return dossier.Stated{}
}

// has reports whether something is at or below the way.
func (d located) has(way ...string) bool { return len(d.under(way...)) > 0 || d.at(way...).Line > 0 }

// under returns the scalars below the way, with the way cut off.
func (d located) under(way ...string) located {
	var below located
	for _, l := range d {
		if len(l.way) > len(way) && equalWay(l.way[:len(way)], way) {
			below = append(below, leaf{l.way[len(way):], l.Stated})
		}
	}
	return below
}

func equalWay(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// lineCounter turns ascending byte offsets into line numbers.
type lineCounter struct {
	data         []byte
	offset, line int
}

func (c *lineCounter) at(offset int64) int {
	if c.line == 0 {
		c.line = 1
	}
	end := min(int(offset), len(c.data))
	c.line += bytes.Count(c.data[c.offset:max(end, c.offset)], []byte("\n"))
	c.offset = max(end, c.offset)
	return c.line
}

// readJSON lists the scalars of one JSON document.
func readJSON(data []byte) (located, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	lines := &lineCounter{data: data}
	var doc located
	if err := jsonValue(dec, lines, nil, &doc); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more follows the document")
	}
	return doc, nil
}

func jsonValue(dec *json.Decoder, lines *lineCounter, way []string, doc *located) error {
	if len(way) > maxNesting {
		return errTooDeep
	}
	token, err := dec.Token()
	if err != nil {
		return err
	}
	line := lines.at(dec.InputOffset())
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		*doc = append(*doc, leaf{way, dossier.Stated{Value: scalar(token), Line: line}})
		return nil
	}
	for i := 0; dec.More(); i++ {
		key := strconv.Itoa(i)
		if delim == '{' {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			key, _ = name.(string)
		}
		if err := jsonValue(dec, lines, append(way[:len(way):len(way)], key), doc); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func scalar(token json.Token) string {
	switch v := token.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// readXML lists the texts and attributes of one XML document. The way holds
// element names, and "@name" for an attribute.
func readXML(data []byte) (located, error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	var doc located
	var way []string
	for {
		token, err := dec.Token()
		if err == io.EOF && len(way) == 0 {
			return doc, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := dec.InputPos()
		switch token := token.(type) {
		case xml.StartElement:
			if len(way) > maxNesting {
				return nil, errTooDeep
			}
			way = append(way[:len(way):len(way)], token.Name.Local)
			for _, attr := range token.Attr {
				doc = append(doc, leaf{append(way[:len(way):len(way)], "@"+attr.Name.Local), dossier.Stated{Value: attr.Value, Line: line}})
			}
		case xml.EndElement:
			way = way[:len(way)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				trailing := strings.Count(string(token), "\n") - strings.Count(strings.TrimRight(string(token), " \t\r\n"), "\n")
				doc = append(doc, leaf{way, dossier.Stated{Value: strings.Join(strings.Fields(text), " "), Line: line - trailing}})
			}
		}
	}
}
