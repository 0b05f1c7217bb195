package model

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// once makes one call and records it: what it may cost, the answer, what it did cost.
func (s *Session) once(ctx context.Context, q question, tell func(runs.Draft)) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, fault.From(context.Cause(ctx))
	}
	call, err := s.begin(q.key, q.request.size()+int64(q.request.MaxTokens))
	if err != nil {
		return Answer{}, err
	}
	tell(runs.Draft{Type: runs.LLMCallStarted, Payload: runs.ModelCall{
		CallID: call, Model: q.request.Model, ProviderBaseURL: q.caller.at.BaseURL, PromptHash: q.key,
		Temperature: q.request.Temperature, MaxTokens: q.request.MaxTokens,
	}})
	began := time.Now()
	a, err := q.caller.post(ctx, q.request)
	took := time.Since(began).Milliseconds()
	a.Key = q.key
	var f *failure
	if errors.As(err, &f) {
		if ctx.Err() != nil { // the run stops; the endpoint is not to blame
			f = &failure{class: "interrupted", why: "the run was interrupted"}
		}
		tell(runs.Draft{Type: runs.LLMCallFailed, Payload: runs.ModelFailure{
			CallID: call, Model: q.request.Model, LatencyMS: took, ErrorClass: f.class, Summary: clip(s.clean(f.why), 400), Retryable: f.passing, HTTPStatus: f.status,
		}})
		if err := errors.Join(s.witness(call, q, a, f), s.end(call, runs.ModelTokens{})); err != nil {
			return Answer{}, err
		}
		if ctx.Err() != nil {
			return Answer{}, fault.From(context.Cause(ctx))
		}
		return Answer{}, f
	}
	if err := errors.Join(s.cache.put(a), s.witness(call, q, a, nil)); err != nil {
		return Answer{}, err
	}
	over := s.end(call, a.Usage)
	tell(runs.Draft{Type: runs.LLMCallFinished, Payload: runs.ModelAnswer{
		CallID: call, Model: q.request.Model, LatencyMS: took, TokenUsage: a.Usage, FinishReason: a.FinishReason, OutputHash: hash(a.Text),
		CostUSD: cost(q.request.Model, a.Usage),
	}})
	return a, over
}

func (s *Session) clean(text string) string {
	if s.o.Redact == nil {
		return text
	}
	return s.o.Redact(text)
}

// evidence is a call as it was made.
type evidence struct {
	CallID          string            `json:"call_id"`
	PromptHash      string            `json:"prompt_hash"`
	ProviderBaseURL string            `json:"provider_base_url"`
	Request         request           `json:"request"`
	Answer          string            `json:"answer,omitempty"`
	FinishReason    string            `json:"finish_reason,omitempty"`
	TokenUsage      *runs.ModelTokens `json:"token_usage,omitempty"`
	CostUSD         *float64          `json:"api_cost_usd,omitempty"`
	Error           string            `json:"error,omitempty"`
	HTTPStatus      int               `json:"http_status,omitempty"`
}

// witness writes a call down, without secrets.
func (s *Session) witness(call string, q question, a Answer, f *failure) error {
	e := evidence{CallID: call, PromptHash: q.key, ProviderBaseURL: q.caller.at.BaseURL, Request: q.request}
	e.Request.Messages = nil
	for _, m := range q.request.Messages {
		e.Request.Messages = append(e.Request.Messages, Message{m.Role, s.clean(m.Content)})
	}
	if f != nil {
		e.Error, e.HTTPStatus = s.clean(f.why), f.status
	} else {
		e.Answer, e.FinishReason, e.TokenUsage, e.CostUSD = s.clean(a.Text), a.FinishReason, &a.Usage, cost(a.Model, a.Usage)
	}
	raw, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	_, err = s.folder.Write("evidence/llm_calls/"+call+".json", append(raw, '\n'))
	return err
}
