// Package fault is the vocabulary of failure.
//
// A failure is made once, where it is known, as a [Fault]: a code from the
// registry (specs/errors.json), a sentence for a person, what to do next, and
// whether trying again can help. It travels as an ordinary error and becomes a
// wire error in one function per wire. Nothing here knows a wire.
//
// The codes are constants in codes.go; a test holds them against the registry
// both ways, so no code can be emitted that is not documented.
package fault

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Code names a kind of failure: upper case words joined by underscores.
type Code string

// Fault is one failure.
//
// Message is one sentence without a final full stop. It never holds an absolute
// path, a token, a stack or the value of an environment variable. Hint says what
// the caller should do next; empty means that the registry's hint applies.
// Details is data for programs and must encode as JSON.
type Fault struct {
	Code      Code
	Message   string
	Retryable bool
	Hint      string
	Details   any

	cause error
}

// New returns a fault that calling again unchanged will not cure.
func New(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Retry returns a fault that calling again later can cure.
func Retry(code Code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), Retryable: true}
}

// Error returns the code and the message. The cause is for logs: see [Fault.Unwrap].
func (f *Fault) Error() string { return string(f.Code) + ": " + f.Message }

// Unwrap returns the error that led to the fault, or nil. It is written to the
// server's log and never sent to a client.
func (f *Fault) Unwrap() error { return f.cause }

// Because records the underlying error and returns f.
func (f *Fault) Because(err error) *Fault { f.cause = err; return f }

// WithHint sets what the caller should do next and returns f.
func (f *Fault) WithHint(format string, args ...any) *Fault {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// WithDetails sets data for programs and returns f. It must encode as JSON.
func (f *Fault) WithDetails(details any) *Fault { f.Details = details; return f }

// From returns the fault in err's chain. A context's end becomes CANCELLED, or
// TOOL_TIMEOUT when its deadline passed, a disk without room STORE_FULL; any other error
// becomes an opaque INTERNAL that keeps err as its cause. It returns nil for a nil error.
func From(err error) *Fault {
	var f *Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return Retry(ToolTimeout, "the operation did not finish in time").Because(err)
	case errors.Is(err, context.Canceled):
		return Retry(Cancelled, "the operation was cancelled").Because(err)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return Retry(StoreFull, "there is no room left on a disk that is written to").Because(err)
	}
	return New(Internal, "internal error").Because(err)
}

// Is reports whether err carries a fault with the code.
func Is(err error, code Code) bool {
	var f *Fault
	return errors.As(err, &f) && f.Code == code
}
