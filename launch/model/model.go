// Package model asks language models, through any endpoint that speaks the
// chat-completions protocol of OpenAI.
//
// A [Session] is what one run may spend. A question goes through it in this order:
//
//  1. The cache. An answer is kept under the hash of its whole request, so the same
//     question costs once, whoever asks it, and a run that is repeated has the same bytes.
//  2. The budgets, of calls and of tokens. What a call may cost is on the disk before it
//     is sent, and what it did cost afterwards: a run that is resumed after a crash has
//     spent what it spent.
//  3. The endpoint, a few times if it fails for a passing reason; then the fallback, the
//     same. What is refused (a wrong key, a bad request) is not tried again, nor elsewhere.
//
// Each request that is sent is told of in the run's journal and is written down whole in
// evidence/llm_calls/<call_id>.json. Hosts and keys are those that the program's
// configuration lists (package egress); a key leaves in a header and stands nowhere else.
//
// What an answer says is nobody's word: package reword holds it against what it may say.
package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/runs"
)

// Endpoint is a model behind an API.
type Endpoint struct {
	BaseURL string        // "https://api.openai.com/v1"
	Model   string        // as the API calls it
	KeyEnv  string        // variable that holds the key; "" if none is needed
	Timeout time.Duration // of one request
}

// Options are what a session works with.
type Options struct {
	Endpoints   []Endpoint // the first is asked first, the others where it fails for a passing reason
	Temperature float64
	TopP        *float64 // nil: the endpoint's own
	MaxTokens   int      // of one answer
	Concurrency int      // requests at once
	CallBudget  int      // requests of the run, failed ones too
	TokenBudget int64    // tokens of the run
	Agent       string   // User-Agent

	Egress *egress.Policy
	Run    string              // the run's folder
	Cache  string              // folder of the cache, which all runs share; "": none
	Redact func(string) string // masks secrets in what is written down; nil: nothing to mask

	// Wait passes the time between two tries; nil waits in earnest.
	Wait func(context.Context, time.Duration) error
}

// The values of what a configuration leaves open.
const (
	DefaultMaxTokens       = 4096
	DefaultConcurrency     = 4
	DefaultTimeout         = 120 * time.Second
	DefaultFallbackTimeout = 300 * time.Second
)

// Message is one message of a prompt.
type Message struct {
	Role    string `json:"role"` // system, user
	Content string `json:"content"`
}

// Answer is what a model said.
type Answer struct {
	Text         string           `json:"text"`
	Model        string           `json:"model"`
	FinishReason string           `json:"finish_reason"` // stop, length, tool_calls, error
	Usage        runs.ModelTokens `json:"usage"`
	Key          string           `json:"key"` // of the request: SHA-256, in hex
}

// request is the body of a question, and what its hash covers besides the endpoint.
type request struct {
	Model       string    `json:"model"`
	Messages    []Message `json:"messages"`
	Temperature float64   `json:"temperature"`
	TopP        *float64  `json:"top_p,omitempty"`
	MaxTokens   int       `json:"max_tokens"`
}

func (s *Session) request(at Endpoint, messages []Message) request {
	return request{Model: at.Model, Messages: messages, Temperature: s.o.Temperature, TopP: s.o.TopP, MaxTokens: s.o.MaxTokens}
}

// key names a request: two with the same key ask the same model the same thing.
func (r request) key(at Endpoint) (string, error) {
	raw, err := json.Marshal(struct {
		BaseURL string  `json:"base_url"`
		Request request `json:"request"`
	}{at.BaseURL, r})
	if err != nil {
		return "", err
	}
	return hash(string(raw)), nil
}

// size is about how many tokens the prompt has.
func (r request) size() (tokens int64) {
	for _, m := range r.Messages {
		tokens += estimate(m.Content)
	}
	return tokens
}

// estimate is about how many tokens a text has: a token of English is four bytes.
func estimate(text string) int64 { return int64(len(text)+3) / 4 }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Unanswered is a question that no endpoint answered, though nothing is wrong with the
// configuration: who asked does without.
type Unanswered struct{ Why string }

// Error returns Why.
func (u *Unanswered) Error() string { return u.Why }

// refused is the fault of an endpoint that would refuse every request.
func refused(at Endpoint, status int, why string) error {
	return fault.New(fault.ModelRefused, "the model endpoint refused the request: HTTP %d: %s", status, why).
		WithHint("Check llm.api_base_url, llm.model and the key in the variable that llm.api_key_env names, then launch_resume the run.").
		WithDetails(map[string]string{"model": at.Model, "provider_base_url": at.BaseURL})
}
