package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/telemetry"
)

var (
	jobTypeForm = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)
	hashForm    = lazyregexp.New(`^[0-9a-fA-F]{7,40}$`)
)

// checks gathers what is wrong with a body.
type checks struct{ errs []rest.FieldError }

func (c *checks) add(field, format string, args ...any) {
	c.errs = append(c.errs, rest.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *checks) problem() error {
	if len(c.errs) == 0 {
		return nil
	}
	return rest.Invalid(c.errs...)
}

// maxShort is how long a name may be, in bytes.
const maxShort = 128

func (c *checks) short(field, value string) {
	if len(value) > maxShort {
		c.add(field, "must have at most %d bytes", maxShort)
	}
}

// id checks an id: it is kept as it is, so nothing in it may need cleaning.
func (c *checks) id(field, value string, t *telemetry.Telemetry) {
	switch {
	case value == "":
		c.add(field, "is missing")
	case !t.Clean(value):
		c.add(field, "must be plain text of at most 256 bytes that holds no secret")
	}
}

// time checks a time. A zero one stands for one that is wrong.
func (c *checks) time(field string, value *string) time.Time {
	if *value == "" {
		c.add(field, "is missing")
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, *value)
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		c.add(field, "must be a time with its zone, such as 2026-11-20T10:00:00Z")
	}
	return at.UTC()
}

func (c *checks) commit(hashField, hash, sourceField, source string) {
	if !hashForm.MatchString(hash) {
		c.add(hashField, "must be 7 to 40 hex digits")
	}
	if !isSource(source) {
		c.add(sourceField, "must be manual, llm or ci")
	}
}

// maxMembers is how many members metrics and context may have.
const maxMembers = 64

func isSource(s string) bool { return s == "manual" || s == "llm" || s == "ci" }

// object checks a JSON object; a string with one in it stands for it.
func (c *checks) object(field string, raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || len(members) > maxMembers {
		c.add(field, "must be a JSON object of at most %d members", maxMembers)
		return nil
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, raw); err != nil {
		c.add(field, "must be a JSON object")
	}
	return flat.Bytes()
}
