package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// maxBody is the largest answer that is read, in bytes.
const maxBody = 4 << 20

// failure is a request that got no usable answer.
type failure struct {
	class   string // as [runs.ModelFailure] has it
	status  int    // of the answer; 0: there was none
	why     string
	passing bool          // it may go another time
	after   time.Duration // that the endpoint asked to wait; 0: it did not say
	blocked error         // the fault of a request that may not be sent
	param   string        // the member of the request that the model does not take
}

func (f *failure) Error() string { return f.why }

// completion is the part of an answer that is read.
type completion struct {
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// wire is a request as the endpoint takes it. Models differ in which members they take,
// and say so when they get one that they do not.
type wire struct {
	Model               string    `json:"model"`
	Messages            []Message `json:"messages"`
	Temperature         *float64  `json:"temperature,omitempty"`
	TopP                *float64  `json:"top_p,omitempty"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
}

func (c *caller) wire(r request) wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := wire{Model: r.Model, Messages: r.Messages}
	if !c.without["temperature"] {
		w.Temperature = &r.Temperature
	}
	if !c.without["top_p"] {
		w.TopP = r.TopP
	}
	if c.without["max_tokens"] {
		w.MaxCompletionTokens = r.MaxTokens
	} else {
		w.MaxTokens = r.MaxTokens
	}
	return w
}

// adapt leaves a member out of the requests from now on, and reports whether that is
// possible and new.
func (c *caller) adapt(param string) bool {
	switch param {
	case "temperature", "top_p", "max_tokens":
	default:
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.without[param]
	if c.without == nil {
		c.without = map[string]bool{}
	}
	c.without[param] = true
	return !known
}

// post sends a request once. The error is a *failure.
func (c *caller) post(ctx context.Context, r request) (Answer, error) {
	body, err := json.Marshal(c.wire(r))
	if err != nil {
		return Answer{}, &failure{class: "malformed", why: "the request cannot be encoded"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.at.BaseURL, "/")+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return Answer{}, &failure{class: "malformed", why: "the endpoint's address cannot be used"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, unsent(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return Answer{}, unsent(err)
	case resp.StatusCode/100 != 2:
		return Answer{}, c.refusal(resp, raw)
	case len(raw) > maxBody:
		return Answer{}, &failure{class: "malformed", status: resp.StatusCode, why: "the answer is larger than 4 MiB"}
	}
	return c.decode(r, resp.StatusCode, raw)
}

func (c *caller) decode(r request, status int, raw []byte) (Answer, error) {
	var got completion
	if json.Unmarshal(raw, &got) != nil || len(got.Choices) == 0 || got.Choices[0].Message.Content == nil {
		return Answer{}, &failure{class: "malformed", status: status, why: "the answer is no chat completion with a text"}
	}
	a := Answer{Text: *got.Choices[0].Message.Content, Model: c.at.Model, FinishReason: reason(got.Choices[0].FinishReason)}
	a.Usage = runs.ModelTokens{Input: got.Usage.Prompt, Output: got.Usage.Completion}
	if a.Usage.Input <= 0 { // not counted there
		a.Usage.Input = r.size()
	}
	if a.Usage.Output <= 0 {
		a.Usage.Output = estimate(a.Text)
	}
	a.Usage.Input, a.Usage.Output = min(a.Usage.Input, maxCount), min(a.Usage.Output, maxCount)
	a.Usage.Total = a.Usage.Input + a.Usage.Output
	return a, nil
}

// maxCount is more tokens than a request can have: what an endpoint claims beyond it would
// overflow sums.
const maxCount = 1 << 40

// reason maps what endpoints say to what events may say.
func reason(said string) string {
	switch said {
	case "stop", "length", "tool_calls":
		return said
	case "":
		return "stop"
	}
	return "error"
}

// unsent is the failure of a request without an answer.
func unsent(err error) *failure {
	var f *fault.Fault
	if errors.As(err, &f) && f.Code == fault.NetworkBlocked {
		return &failure{class: "blocked", why: f.Message, blocked: f}
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return &failure{class: "timeout", why: "the endpoint did not answer in time", passing: true}
	}
	return &failure{class: "connection", why: "the endpoint cannot be reached: " + lastOf(err), passing: true}
}

// lastOf is the innermost message of an error: those around it repeat the address.
func lastOf(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}

// refusal is the failure of a request whose answer is an error.
func (c *caller) refusal(resp *http.Response, raw []byte) *failure {
	f := &failure{class: "refused", status: resp.StatusCode, why: fmt.Sprintf("HTTP %d", resp.StatusCode)}
	said, param := saidWhy(raw)
	if said != "" {
		f.why += ": " + said
	}
	if resp.StatusCode == http.StatusBadRequest {
		f.param = param
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		f.class, f.passing = "rate_limited", true
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout:
		f.class, f.passing = "server", true
	}
	f.after = retryAfter(resp.Header.Get("Retry-After"), resp.Header.Get("Date"))
	return f
}

// saidWhy is the message of an error body, in one short line, and the member of the
// request that it complains of.
func saidWhy(raw []byte) (message, param string) {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Param   string `json:"param"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return "", ""
	}
	if code, _ := body.Error.Code.(string); strings.HasPrefix(code, "unsupported_") {
		param = body.Error.Param
	}
	return clip(strings.Join(strings.Fields(body.Error.Message), " "), 200), param
}

// retryAfter reads the header: seconds, or a date, which is held against the answer's own.
func retryAfter(after, date string) time.Duration {
	if seconds, err := strconv.Atoi(after); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxWait/time.Second))) * time.Second
	}
	until, err := http.ParseTime(after)
	now, err2 := http.ParseTime(date)
	if err != nil || err2 != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), maxWait)
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
