package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/model"
	"github.com/gantry-run/gantry/launch/model/reword"
	"github.com/gantry-run/gantry/launch/pages"
	"github.com/gantry-run/gantry/runs"
)

// conversations are the model sessions of the runs that are drafted now. The sections of
// a run are drafted side by side and spend from one budget, so they share a session.
type conversations struct {
	mu   sync.Mutex
	open map[runs.ID]*conversation
}

type conversation struct {
	session *model.Session
	users   int
}

// enter returns the run's session, which the first to come opens. Call leave when done.
func (c *conversations) enter(run runs.ID, o model.Options) (s *model.Session, leave func() error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[runs.ID]*conversation{}
	}
	shared := c.open[run]
	if shared == nil {
		session, err := model.Open(o)
		if err != nil {
			return nil, nil, err
		}
		shared = &conversation{session: session}
		c.open[run] = shared
	}
	shared.users++
	return shared.session, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if shared.users--; shared.users > 0 {
			return nil
		}
		delete(c.open, run)
		return shared.session.Close()
	}, nil
}

// modelOptions are what the run may ask, of whom.
func (j *job) modelOptions(c dossier.LLM) model.Options {
	o := model.Options{
		Endpoints:   []model.Endpoint{{BaseURL: c.APIBaseURL, Model: c.Model, KeyEnv: c.APIKeyEnv, Timeout: seconds(c.RequestTimeoutS, model.DefaultTimeout)}},
		Temperature: c.Decoding.Temperature, TopP: c.Decoding.TopP,
		MaxTokens:   orElse(c.Decoding.MaxTokens, model.DefaultMaxTokens),
		Concurrency: orElse(c.MaxConcurrency, model.DefaultConcurrency),
		CallBudget:  j.cfg.Budgets.MaxLLMCalls, TokenBudget: int64(j.cfg.Budgets.MaxLLMTokens),
		Agent: j.agent, Egress: j.egress, Run: j.try.Dir, Cache: j.models, Redact: j.redact, Wait: j.pause,
	}
	if f := c.Fallback; f != nil {
		o.Endpoints = append(o.Endpoints, model.Endpoint{
			BaseURL: f.APIBaseURL, Model: f.Model, KeyEnv: f.APIKeyEnv, Timeout: seconds(f.RequestTimeoutS, model.DefaultFallbackTimeout),
		})
	}
	return o
}

func orElse(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

func seconds(value int, otherwise time.Duration) time.Duration {
	if value == 0 {
		return otherwise
	}
	return time.Duration(value) * time.Second
}

// reworded is a page and how its sentences came to be.
type reworded struct {
	content []byte
	model   string // whose sentences they are; "" for the template's
	why     string // it is the template's
}

// reword has the configured model say the drafts' sentences better. A page whose answer
// breaks its contract, or that no endpoint answers, stays as the template wrote it. The
// report of the section says which did, and why.
func (j *job) reword(ctx context.Context, in pages.DraftInput, section string, drafts []pages.Page) (err error) {
	session, leave, err := j.talks.enter(j.work.Run, j.modelOptions(*j.cfg.LLM))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	results, failures := make([]reworded, len(drafts)), make([]error, len(drafts))
	var all sync.WaitGroup
	for i, d := range drafts {
		all.Go(func() { results[i], failures[i] = j.rewordPage(ctx, session, in, d) })
	}
	all.Wait()
	for i, r := range results {
		if failures[i] != nil {
			return failures[i]
		}
		drafts[i].Content = r.content
	}
	name := "model_" + section + ".md"
	return j.file(name, "reports/"+name, "", []byte(j.clean(rewordReport(section, drafts, results))))
}

func (j *job) rewordPage(ctx context.Context, session *model.Session, in pages.DraftInput, d pages.Page) (reworded, error) {
	as := func(why string) (reworded, error) { return reworded{content: d.Content, why: why}, nil }
	p := reword.Page{Path: d.OutputPath, Draft: d.Content, Claims: map[string]string{}, MaxLines: j.cfg.Budgets.MaxLinesPerFile}
	for _, planned := range in.Plan.Pages {
		if planned.OutputPath == d.OutputPath {
			p.Title, p.Purpose = planned.Title, planned.Purpose
		}
	}
	for _, c := range in.Evidence.Claims {
		p.Claims[c.ID] = c.Text
	}
	messages, err := reword.Prompt(p)
	switch {
	case err != nil:
		return reworded{}, err
	case messages == nil:
		return as("it has no sentence to reword")
	}
	answer, err := session.Ask(ctx, messages, j.try.Tell)
	var silent *model.Unanswered
	switch {
	case errors.As(err, &silent):
		return as("no answer: " + silent.Why)
	case err != nil:
		return reworded{}, err
	case answer.FinishReason != "stop":
		return as("the answer is not complete: " + answer.FinishReason)
	}
	content, err := reword.Accept(p, answer.Text)
	var broken *reword.Refusal
	switch {
	case errors.As(err, &broken):
		return as("the answer breaks the page's contract: " + broken.Why)
	case err != nil:
		return reworded{}, err
	}
	return reworded{content: content, model: answer.Model}, nil
}

func (w *workers) clean(text string) string {
	if w.redact == nil {
		return text
	}
	return w.redact(text)
}

func rewordReport(section string, drafts []pages.Page, results []reworded) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Whose words the pages of %s are in\n\n", section)
	for i, r := range results {
		if r.model != "" {
			fmt.Fprintf(&b, "- `%s`: the model %s\n", drafts[i].OutputPath, r.model)
			continue
		}
		fmt.Fprintf(&b, "- `%s`: the template; %s\n", drafts[i].OutputPath, r.why)
	}
	return b.String()
}
