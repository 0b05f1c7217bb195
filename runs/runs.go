// Package runs is the vocabulary of everything long-running, and its store.
//
// A run has an id, a kind, a state machine, a journal of events, artifacts and
// output. The journal is the truth: a [View] is the fold of its events
// ([View.Apply]), a snapshot is a View in its canonical encoding, the index is a
// cache of views. Whatever happens to a run is first an event, durable in the
// journal, and only then acted on or answered for.
//
// What happens next is decided by [Next], which is pure: it reads a View and
// says which work to execute, which events to write, or to wait. It knows no
// clock, no files and no node by name; the node table ([Workflow]) travels inside
// RUN_CREATED, so a new binary cannot change a run that is under way. An [Engine]
// is a loop around Next. Resume has no code path of its own: whoever holds a run's
// drive lock folds the journal and asks Next.
//
// [Store] keeps runs in a directory: one folder a run, published whole by one
// rename; advisory locks that a dead process releases; commands left as files for
// whoever drives; and an index that can be deleted at any time.
package runs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// ID names a run: ^[a-zA-Z0-9_-]{8,64}$.
type ID string

// Kind is what a run is.
type Kind string

// The kinds of run. What each promises about durability is in [Kind.Durable].
const (
	Launch  Kind = "launch"  // a pipeline of nodes that ends in a pull request
	Target  Kind = "target"  // one execution of a project's target
	Session Kind = "session" // a conversation with an agent's command line
)

// Durable reports whether the state-bearing events of a run of this kind survive
// a power cut. A target dies with the power, so its journal is not synced.
func (k Kind) Durable() bool { return k != Target }

var idEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewID returns a fresh id, "r_<UTC time>_<12 base32 characters>".
func NewID(now time.Time) ID {
	var b [8]byte
	rand.Read(b[:]) // never fails: the runtime ends the program instead
	return ID("r_" + now.UTC().Format("20060102T150405Z") + "_" + strings.ToLower(idEncoding.EncodeToString(b[:])[:12]))
}

// Valid reports whether the id has the form of one.
func (id ID) Valid() bool { return idForm.MatchString(string(id)) }

var idForm = lazyregexp.New(`^[a-zA-Z0-9_-]{8,64}$`)

// Short returns the last eight characters of the id, for branch names.
func (id ID) Short() string { return string(id[max(0, len(id)-8):]) }

// TraceID returns the run's trace id, 32 hex digits derived from its id, so that
// a resumed run goes on in its trace.
func (id ID) TraceID() string { return digest("trace", string(id))[:32] }

// SpanID returns the id of the span of one work item, or of the run itself when
// key is empty: 16 hex digits.
func (id ID) SpanID(key string) string { return digest("span", string(id), key)[:16] }

// TraceParent returns the W3C traceparent of the span of one work item, or of the run
// itself when key is empty: what a process that the run starts gets as TRACEPARENT.
func (id ID) TraceParent(key string) string {
	return "00-" + id.TraceID() + "-" + id.SpanID(key) + "-01"
}

// Traced returns the environment of a process that the run starts: env, with the run's
// span in place of the one that this process may be part of.
func (id ID) Traced(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "TRACEPARENT=") || strings.HasPrefix(v, "TRACESTATE=")
	})
	return append(out, "TRACEPARENT="+id.TraceParent(""))
}

func digest(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:])
}
