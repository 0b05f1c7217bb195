package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// The node of a turn, and the commands of the workflow.
const (
	turnNode    = "turn"
	archiveNode = "archive"

	followUp  = "follow_up"
	queue     = "queue"
	unqueue   = "unqueue"
	stop      = "stop"
	archiveIt = "archive"

	threadNote = "thread_id" // what the CLI calls the conversation
	nameNote   = "name"      // what it called it first
)

// Outcomes of a turn, as the workflow names them.
const (
	completed = "completed"
	failed    = "failed"
	killed    = "killed"
)

// input is what a session's run is started with.
type input struct {
	Executor   string         `json:"executor"`
	Model      string         `json:"model,omitempty"`
	Title      string         `json:"title,omitempty"`
	Dir        string         `json:"dir"`
	ConfigFile string         `json:"config_file,omitempty"`
	Env        []string       `json:"env,omitempty"`
	Thread     string         `json:"thread_id,omitempty"` // of a conversation that was there before
	View       string         `json:"view,omitempty"`
	Before     before         `json:"before,omitzero"`
	Custom     *agents.Custom `json:"custom,omitempty"` // the executor, if it is the user's; without its environment
	ask
}

// before is what the log of a conversation held that Gantry did not start.
type before struct {
	Lines int64 `json:"lines"`
	Bytes int64 `json:"bytes"`
}

// ask is what a turn is asked with: the beginning of the prompt, and where all of it is.
type ask struct {
	Prompt  string `json:"prompt"`
	SHA256  string `json:"prompt_sha256"`
	Variant string `json:"variant,omitempty"`
}

// MaxPrompt is how long a prompt may be, in bytes.
const MaxPrompt = 1 << 20

// newAsk returns what is recorded of a prompt. An empty one, one that is too long, and one
// with a NUL byte, which no program could be given, is INVALID_INPUT.
func newAsk(prompt, variant string) (ask, error) {
	switch {
	case strings.TrimSpace(prompt) == "":
		return ask{}, fault.New(fault.InvalidInput, "the prompt is empty").WithHint("say in prompt what the agent should do")
	case len(prompt) > MaxPrompt:
		return ask{}, fault.New(fault.InvalidInput, "the prompt has %d bytes, the most are %d", len(prompt), MaxPrompt).
			WithHint("put the text into a file and name that in prompt")
	case strings.ContainsRune(prompt, 0) || !utf8.ValidString(prompt):
		return ask{}, fault.New(fault.InvalidInput, "the prompt is no text: it holds a NUL byte, or is not UTF-8")
	}
	sum := sha256.Sum256([]byte(prompt))
	return ask{clip(prompt, PreviewBytes), hex.EncodeToString(sum[:]), variant}, nil
}

// file returns the path of the whole prompt in a run's folder.
func (a ask) file() string { return filepath.Join("work", "prompt-"+a.SHA256+".txt") }

// whole returns the whole prompt.
func (a ask) whole(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, a.file()))
	return string(raw), err
}

// keep writes the whole prompt, durably: it is there before an event speaks of it.
func (a ask) keep(dir, prompt string) error {
	path := filepath.Join(dir, a.file())
	if _, err := os.Stat(path); err == nil {
		return nil // the same words have been said before
	}
	return journal.WriteFileAtomic(journal.Disk{}, path, []byte(prompt))
}

// clip shortens a text to a number of bytes, between two characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

func inputOf(v *runs.View) (in input, err error) {
	if err = json.Unmarshal(v.Created.Input, &in); err != nil {
		err = fmt.Errorf("the input of session %s: %w", v.RunID, err)
	}
	return in, err
}

// askOf returns what a turn of a session was asked with.
func askOf(v *runs.View, in input, w *runs.WorkItem) (ask, error) {
	c, ok := v.Command(w.CommandID)
	if !ok {
		return in.ask, nil // the first
	}
	var a ask
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return a, fmt.Errorf("what turn %d of session %s was asked with: %w", w.Visit, v.RunID, err)
	}
	return a, nil
}

// turns returns the work items that are turns, in their order.
func turns(v *runs.View) (out []*runs.WorkItem) {
	for i := range v.WorkItems {
		if w := &v.WorkItems[i]; w.Node == turnNode {
			out = append(out, w)
		}
	}
	return out
}

// TurnID returns the id of a turn of a session, counted from 1. It depends on these alone.
func TurnID(session runs.ID, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s turn %d", session, index))
	h := []byte(hex.EncodeToString(sum[:16]))
	copy(h, strings.ReplaceAll(string(session), "-", "")[:12]) // the session's time
	h[12], h[16] = '7', '8'
	return string(slices.Concat(h[:8], []byte("-"), h[8:12], []byte("-"), h[12:16], []byte("-"), h[16:20], []byte("-"), h[20:]))
}

// processKey names the process of a turn at the supervisor.
func processKey(session runs.ID, index int) string { return fmt.Sprintf("%s.%d", session, index) }

// workflow returns the node table of a session.
func workflow() (runs.Workflow, error) {
	raw, _ := specs.Workflow("session")
	var w runs.Workflow
	if err := json.Unmarshal(raw, &w); err != nil {
		return runs.Workflow{}, fmt.Errorf("read the workflow of a session: %w", err)
	}
	return w, nil
}
