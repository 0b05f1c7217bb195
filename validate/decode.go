package validate

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/gantry-run/gantry/internal/fault"
)

// Decode reads arguments that obey their schema into a struct. What a schema
// allows and Go's type does not hold, such as 50.0 for an int, is
// SCHEMA_VALIDATION_FAILED with one problem, and so is a member that the struct lacks.
func Decode(raw json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mismatch):
		p := Problem{"/" + clean(mismatch.Field), "type", "expected " + mismatch.Type.Kind().String() + ", got " + clean(mismatch.Value)}
		return fault.New(fault.SchemaValidationFailed, "%s: %s", p.Path, p.Message).WithDetails([]Problem{p}).Because(err)
	}
	return fault.New(fault.SchemaValidationFailed, "the arguments cannot be read").Because(err)
}
