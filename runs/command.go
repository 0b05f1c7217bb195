package runs

import (
	crand "crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Command asks something of a run. It is idempotent on ID, and on Once.Key for a week.
type Command struct {
	ID    string `json:"command_id"`
	Type  string `json:"type"`            // cancel, resume, or what a workflow awaits
	Force string `json:"force,omitempty"` // resume: node to execute again

	// Changed are artifacts whose files are not what the index says, for a resume: what was
	// made from them is made anew. One that is gone has no hash.
	Changed []Artifact `json:"changed,omitempty"`

	Once   *Once  `json:"once,omitempty"`
	CallID string `json:"call_id,omitempty"` // record of the call that asked
	Tool   string `json:"tool,omitempty"`

	Args json.RawMessage `json:"args,omitempty"` // what else it says, to the worker that it leads to
}

// The commands that every workflow understands.
const (
	Cancel = "cancel"
	Resume = "resume"
)

// Receipt says what became of a command.
type Receipt struct {
	CommandID string   `json:"command_id"`
	Status    string   `json:"status"` // done, held, dropped, refused
	State     State    `json:"state"`  // of the run when it was settled
	Failure   *Failure `json:"failure,omitempty"`
	Told      bool     `json:"told,omitempty"` // the worker of the present visit is told of it
}

// The statuses of a command.
const (
	Pending     = "pending"
	Active      = "active" // the run is doing what it asked
	CommandDone = "done"
	Held        = "held"    // it waits until the run would pause: [Take].As
	Dropped     = "dropped" // it was held, and is not any more
	Refused     = "refused"
)

// CommandState is a command with what became of it.
type CommandState struct {
	Command
	Status   string    `json:"status"`
	Received time.Time `json:"received_at"`
	Receipt  *Receipt  `json:"receipt,omitempty"`
}

// KeyLife is how long an idempotency key is kept.
const KeyLife = 7 * 24 * time.Hour

// Command returns what is known of the command of that id.
func (v *View) Command(id string) (CommandState, bool) {
	i := slices.IndexFunc(v.Commands, func(c CommandState) bool { return c.ID == id })
	if i < 0 {
		return CommandState{}, false
	}
	return v.Commands[i], true
}

// CommandID returns the id of a command with the idempotency key: the living one's,
// which is found, or that of a new one. A command without key gets a random id.
// The key of a living command with another hash is IDEMPOTENCY_CONFLICT.
func (v *View) CommandID(o *Once, now time.Time) (id string, found bool, err error) {
	if o == nil {
		return "c_" + strings.ToLower(crand.Text()[:16]), false, nil
	}
	if c, ok := v.Keyed(o.Key, now); ok {
		if c.Once.Hash != o.Hash {
			return "", false, ConflictingKey(o.Key)
		}
		return c.ID, true, nil
	}
	used := 0
	for _, c := range v.Commands {
		if c.Once != nil && c.Once.Key == o.Key {
			used++
		}
	}
	return "k_" + digest("command", o.Key, o.Hash, strconv.Itoa(used))[:16], false, nil
}

// rival reports whether another request holds the key of a command. Two processes
// that post at the same moment cannot see that.
func (v *View) rival(c Command) bool {
	me, _ := v.Command(c.ID)
	return c.Once != nil && slices.ContainsFunc(v.Commands, func(o CommandState) bool {
		return o.Once != nil && o.Once.Key == c.Once.Key && o.Once.Hash != c.Once.Hash &&
			o.Status != Pending && o.Status != Refused && me.Received.Sub(o.Received) < KeyLife
	})
}

// Keyed returns the newest command that carries the idempotency key and was
// received within [KeyLife] before now. A refused command has freed its key.
func (v *View) Keyed(key string, now time.Time) (CommandState, bool) {
	for _, c := range slices.Backward(v.Commands) {
		if c.Once != nil && c.Once.Key == key && c.Status != Refused && now.Sub(c.Received) < KeyLife {
			return c, true
		}
	}
	return CommandState{}, false
}

// Held returns the command that waits until the run would pause, if there is one.
func (v *View) Held() (CommandState, bool) {
	if c := v.commandIn(Held); c != nil {
		return *c, true
	}
	return CommandState{}, false
}

// commandIn returns the first command with the status, or nil.
func (v *View) commandIn(status string) *CommandState {
	for i := range v.Commands {
		if v.Commands[i].Status == status {
			return &v.Commands[i]
		}
	}
	return nil
}
