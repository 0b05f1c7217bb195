package telemetry

import "time"

// A Forwarder takes copies of records to another place. What it is given is kept at
// once: when a method returns, a kill of the process loses nothing of it. Its methods
// wait for the disk at most, never for a network, and may be called from several
// goroutines.
type Forwarder interface {
	// Forward takes records. One whose id it was given before is an update.
	Forward(records []Record)
	// Associate says that a commit was made of the work of the records of a run. All of
	// them were forwarded before.
	Associate(run string, eventIDs []string, c Commit)
	// Flush says that now is a good moment to deliver what was left undelivered.
	Flush()
}

// Commit is a git commit that was made of the work that a record tells of.
type Commit struct {
	Hash   string    // 7 to 40 hex digits
	Source string    // "manual", "llm" or "ci"
	Author string    // may be empty
	Time   time.Time // zero if it is not known
}

// commitSource is the source of the commits that runs make: no person, no model.
const commitSource = "ci"

// nowhere is the Forwarder of a program that keeps its records to itself.
type nowhere struct{}

func (nowhere) Forward([]Record)                   {}
func (nowhere) Associate(string, []string, Commit) {}
func (nowhere) Flush()                             {}
