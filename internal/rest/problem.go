package rest

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Problem is a failure as a problem document. It is an error, for what only HTTP knows.
type Problem struct {
	Type      string       `json:"type"` // always about:blank: the code says which
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail"`
	Code      fault.Code   `json:"code,omitempty"`
	Hint      string       `json:"hint,omitempty"`
	Retryable bool         `json:"retryable"`
	Errors    []FieldError `json:"errors,omitempty"`
}

// FieldError is what is wrong with one member of a body or parameter of a query.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"` // without the field's name
}

// Error implements error.
func (p Problem) Error() string { return p.Detail }

// maxErrors is how many wrong fields are told of.
const maxErrors = 20

// Invalid is the problem of a request with wrong fields.
func Invalid(errs ...FieldError) Problem {
	var says []string
	for _, e := range errs {
		says = append(says, e.Field+" "+e.Message)
	}
	return Problem{
		Status: http.StatusUnprocessableEntity, Code: fault.SchemaValidationFailed, Errors: errs[:min(len(errs), maxErrors)],
		Detail: strings.Join(says[:min(len(says), 3)], "; "),
	}
}

// statusOf returns the status of a fault; 500 unless the caller can do something about it.
func statusOf(code fault.Code) int {
	switch code {
	case fault.RunNotFound, fault.RecordNotFound, fault.ArtifactNotFound, fault.JobNotFound:
		return http.StatusNotFound
	case fault.InvalidInput, fault.InvalidCursor, fault.SchemaValidationFailed:
		return http.StatusUnprocessableEntity
	case fault.AuthInsufficientScope, fault.AccessDenied, fault.PathEscape:
		return http.StatusForbidden
	case fault.EventChainBroken:
		return http.StatusConflict
	case fault.ShuttingDown, fault.StoreFull:
		return http.StatusServiceUnavailable
	case fault.ToolTimeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// problemOf makes any error a problem. What is not meant for callers becomes one sentence.
func problemOf(err error) Problem {
	var p Problem
	if errors.As(err, &p) {
		return p
	}
	f := fault.From(err)
	return Problem{Status: statusOf(f.Code), Detail: f.Message, Code: f.Code, Hint: f.Hint, Retryable: f.Retryable}
}

// problem answers with a problem.
func (o Options) problem(w http.ResponseWriter, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	body, err := encode(p)
	if err != nil {
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Del("Content-Length")
	w.WriteHeader(p.Status)
	_, _ = w.Write(o.Redact(body)) // nobody is left to be told that the client is gone
}
