// Package agents knows the command lines of coding agents: how each is started,
// how it takes a prompt, how a conversation is taken up again, and what its output
// says.
//
// An agent's command line is a [CLI], one file each. A CLI starts nothing. It turns
// a [Turn] (a prompt, where, with what settings) into an [Invocation] (argv,
// environment, standard input), which somebody else runs, and it reads what the
// process writes with a [Decoder]. So a session can be kept, resumed and tested
// without a CLI at hand, and a CLI without a session.
//
// What agents write differs in everything but its meaning. A decoder turns it, a line
// at a time, into one model of entries ([Entry]): what the agent said and thought,
// which tools it used on what, and how that ended. Nothing that an agent writes is
// an error of the decoder's. A line that is no JSON is shown as it is, an event that is
// unknown is passed over, one that is too long is named; every line is also kept raw
// ([Raw]), so what is passed over is not lost. What a decoder holds is bounded, whatever
// it is fed.
//
// A decoder depends on its lines alone. Whoever goes on where another stopped feeds a
// new one the same lines again and drops as many entries as are stored already.
//
// The prompt goes by standard input where the CLI reads it there: arguments are for
// all to see, and bounded.
//
// What an agent may do is decided here and in the server's configuration, never by
// a caller: the sandbox, the permissions and the settings of a CLI are its variants,
// which are a list, and [Options].FullAccess.
package agents

import (
	"context"
	"time"
)

// CLI is the command line of a coding agent. Its methods may be called by several
// goroutines at once.
type CLI interface {
	// Name returns what callers call it: upper case words joined by underscores,
	// such as CODEX.
	Name() string

	// Variants returns the named settings that a turn may ask for, sorted. None of
	// them is called DEFAULT.
	Variants() []string

	// SupportsMCP reports whether the agent can be given MCP servers.
	SupportsMCP() bool

	// Probe says whether the CLI is there and works, by asking for its version. It
	// takes 10 seconds at most. env is the server's environment.
	Probe(ctx context.Context, env []string) Probe

	// Turn returns how to start a turn. It fails with an INVALID_INPUT fault on an
	// unknown variant, an empty prompt, and on a thread or a model that the CLI
	// could take for an option. It does not look whether the program is there.
	Turn(Turn) (Invocation, error)

	// Decoder returns a decoder for the output of one turn that worked in dir; paths
	// beneath it are shown relative to it.
	Decoder(dir string) Decoder
}

// Turn is a prompt to an agent and all that it depends on.
type Turn struct {
	Prompt  string
	Thread  string // the conversation to go on with, as the CLI called it; empty begins one
	Dir     string // where the agent works, absolute
	Model   string // empty for the CLI's own choice
	Variant string // one of the CLI's variants, empty for none
	// ConfigFile is the CLI's own configuration file, absolute, empty for the usual
	// one. A CLI without such a thing refuses it.
	ConfigFile string
	Env        []string // the server's environment, of which the agent gets a part
	ExtraEnv   []string // what the agent gets beside it, as NAME=value; wins
}

// Invocation is how a turn is started.
type Invocation struct {
	Name  string   // the program: a path, or a name to look up in the PATH of Env
	Args  []string // without the program itself
	Env   []string // the complete environment as NAME=value, sorted by name
	Stdin []byte   // what the program reads; empty means an empty input
}

// Decoder reads the output of one turn. It is used by one goroutine.
type Decoder interface {
	// Line takes one line of the output, without its newline and at most [MaxLine]
	// bytes long, and returns what it means, often nothing. stderr says on which
	// stream it came, at when. It keeps nothing of raw.
	Line(raw []byte, stderr bool, at time.Time) []Entry

	// Summary returns what the lines so far come to.
	Summary() Summary
}

// Summary is what the output of a turn comes to.
type Summary struct {
	Thread      string  `json:"thread_id,omitempty"`    // what the CLI calls the conversation; empty until it said so
	Model       string  `json:"model,omitempty"`        // the model that answered, if the CLI says which
	LastMessage string  `json:"last_message,omitempty"` // the last that the agent said, bounded
	Usage       Usage   `json:"usage"`                  // of this turn, unless Cumulative
	CostUSD     float64 `json:"cost_usd,omitempty"`     // of this turn, 0 when the CLI does not say
	Cumulative  bool    `json:"cumulative,omitempty"`   // Usage counts the conversation with all its turns: see [Usage.Since]
	Completed   bool    `json:"completed,omitempty"`    // the CLI said that the turn is complete
	Failure     string  `json:"failure,omitempty"`      // why the turn failed, as an event said; empty when none did
	Complaint   string  `json:"complaint,omitempty"`    // the last complaint on standard error: the reason of a turn that failed without a Failure
}

// Usage counts the tokens of a turn. Cached ones are part of the input, those of
// reasoning part of the output.
type Usage struct {
	InputTokens       int64 `json:"input_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
}

// Since returns what was used beyond an earlier count of the same conversation.
func (u Usage) Since(earlier Usage) Usage {
	return Usage{
		InputTokens:       max(0, u.InputTokens-earlier.InputTokens),
		CachedInputTokens: max(0, u.CachedInputTokens-earlier.CachedInputTokens),
		OutputTokens:      max(0, u.OutputTokens-earlier.OutputTokens),
		ReasoningTokens:   max(0, u.ReasoningTokens-earlier.ReasoningTokens),
	}
}

// Probe is what is known of a CLI on this machine.
type Probe struct {
	Name      string `json:"name"`              // of the CLI
	Program   string `json:"program"`           // the program's name
	Installed bool   `json:"installed"`         // the program is there
	Version   string `json:"version,omitempty"` // the first line of what it answered
	Works     bool   `json:"works"`             // it answered with exit code 0
	Reason    string `json:"reason,omitempty"`  // why it does not work, and what to do
}

// Options are the server's settings for all CLIs.
type Options struct {
	// FullAccess lets agents do what they want: no sandbox, no permissions asked.
	FullAccess bool
	// Inherit are names of variables that agents get of the server's environment
	// besides the usual ones and those of their CLI.
	Inherit []string
	// Custom are the commands of the user's, in the order of the configuration.
	Custom []Custom
}

// Custom is an agent of the user's: any command.
type Custom struct {
	Name string // as [CLI].Name; one of ours is replaced by it
	// Command starts a conversation: the program and its arguments. {prompt},
	// {model}, {variant} and {dir} stand for what they say. Without {prompt} the
	// prompt goes to standard input.
	Command []string
	// Resume goes on with one: as Command, and {session} is what the output named.
	// Without it a follow-up runs Command again in the same place.
	Resume []string
	Output string // "plain" (the default): each line is something said; "jsonl": an event a line
	// SessionField is the path to the conversation's id in an event of jsonl, such
	// as "session.id". Empty tries the names that CLIs use.
	SessionField string
	// SessionPattern is a regular expression whose first group is the
	// conversation's id in a line of plain output. Empty for none.
	SessionPattern string
	Env            []string // NAME=value, beside the inherited
	Variants       []string
	MCP            bool
}
