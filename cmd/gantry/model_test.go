package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

// modelKey has the form of no known kind of secret: only its value can give it away.
const modelKey = "plain-words-that-open-the-model"

// model is a chat-completions endpoint. It answers with the draft and a word in front of
// each cited sentence, after before, which may be nil.
func (w *world) model(before func(http.ResponseWriter, *http.Request) (answered bool)) (requests *atomic.Int64, config args) {
	w.t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+modelKey {
			w.t.Errorf("the key is %q", r.Header.Get("Authorization"))
		}
		raw, _ := io.ReadAll(r.Body) // all of it, so that the server sees the client leave
		if before != nil && before(rw, r) {
			return
		}
		var body struct{ Messages []struct{ Content string } }
		var page struct{ Draft string }
		if err := json.Unmarshal(raw, &body); err != nil || len(body.Messages) != 2 {
			w.t.Errorf("the request: %v", err)
			return
		}
		if err := json.Unmarshal([]byte(body.Messages[1].Content), &page); err != nil {
			w.t.Error(err)
		}
		lines := strings.Split(page.Draft, "\n")
		for i, line := range lines {
			if text, markers, ok := strings.Cut(line, " <!-- claim_id: "); ok && !strings.HasSuffix(text, ":") {
				bullet := text[:len(text)-len(strings.TrimLeft(text, "- "))]
				lines[i] = bullet + "Notably, " + strings.TrimPrefix(text, bullet) + " <!-- claim_id: " + markers
			}
		}
		answer, _ := json.Marshal(strings.Join(lines, "\n"))
		fmt.Fprintf(rw, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":50}}`, answer)
	}))
	w.t.Cleanup(s.Close)
	w.env = append(w.env, "WIDGET_MODEL_KEY="+modelKey)
	return requests, args{
		"llm":       args{"api_base_url": s.URL + "/v1", "model": "m", "decoding": args{}, "api_key_env": "WIDGET_MODEL_KEY", "max_concurrency": 1},
		"autopilot": args{"fix": true, "open_pr": true},
	}
}

var modelFlags = []string{"--launch-hosts=127.0.0.1", "--launch-secrets=WIDGET_MODEL_KEY"}

// ledger is what a run's record of model calls says.
func (w *world) ledger(id string) (l spent) {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.state, "runs", id, "work", "llm_ledger.json"))
	if err == nil {
		err = json.Unmarshal(raw, &l)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

type spent struct {
	Calls  int64 `json:"calls"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// A process dies while a model is thinking. The next one asks that question again and no
// other one twice, and what both spent is one sum.
func TestARunWithAModelSurvivesAKillAndSpendsNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reached := make(chan struct{}, 1)
	var n atomic.Int64
	asked := map[string]int{}
	requests, config := w.model(func(rw http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) != 2 {
			return false
		}
		reached <- struct{}{}
		<-r.Context().Done() // until the client is gone
		return true
	})
	p := w.serve(stateful, modelFlags...)
	id := p.start(config)
	select {
	case <-reached:
	case <-t.Context().Done():
	}
	p.signal(syscall.SIGKILL)
	again := w.serve(stateless, modelFlags...)
	if v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() }); v.State != runs.StateDone {
		t.Fatalf("%s: %+v", v.State, v.Failure)
	}
	if l := w.ledger(id); l.Calls != requests.Load() || l.Output != 50*(l.Calls-1) {
		t.Errorf("%d requests, the ledger says %+v", requests.Load(), l)
	}
	calls, err := filepath.Glob(filepath.Join(w.state, "runs", id, "evidence", "llm_calls", "*.json"))
	if err != nil || len(calls) != int(requests.Load())-1 { // the one that was cut short has none
		t.Errorf("%d files of evidence, %d requests, %v", len(calls), requests.Load(), err)
	}
	for _, path := range calls {
		var call struct {
			PromptHash string `json:"prompt_hash"`
		}
		raw, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(raw, &call)
		}
		if err != nil {
			t.Error(err)
		}
		if asked[call.PromptHash]++; asked[call.PromptHash] > 1 {
			t.Errorf("%s was answered twice", call.PromptHash)
		}
	}
	report := string(again.artifact(id, "model_docs.md", 1<<20))
	if !strings.Contains(report, "the model m") {
		t.Errorf("the report: %s", report)
	}
	said := string(again.must("get_telemetry", args{"run_id": id}))
	if !strings.Contains(said, `"llm_call"`) {
		t.Errorf("no record of a call: %.500s", said)
	}
	again.end()
	w.tellsNobody(modelKey, p.err.String(), again.err.String(), said, report)
	w.verify(id)
}

// An endpoint that says the key back, in an error or as a page, does not bring it anywhere.
func TestAModelThatSaysTheKeyBackGivesNothingAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, config := w.model(func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(rw, `{"error":{"message":"bad key %s"}}`, modelKey)
		return true
	})
	p := w.serve(stateful, modelFlags...)
	id := p.start(config)
	w.until(id, func(v *runs.View) bool { return v.State == runs.StateDone })
	said := string(p.must("get_telemetry", args{"run_id": id})) + string(p.artifact(id, "model_docs.md", 1<<20)) + string(p.status(id))
	p.end()
	w.tellsNobody(modelKey, p.err.String(), said)
}

// A client chooses among the hosts and variables that the server's configuration lists.
func TestAClientChoosesNoHostAndNoSecretOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	requests, config := w.model(nil)
	for _, flags := range [][]string{nil, {"--launch-hosts=127.0.0.1"}} {
		p := w.serve(stateful, flags...)
		id := p.start(config)
		if v := w.rest(id); v.State != runs.StateFailed || v.Failure.Code != "NETWORK_BLOCKED" {
			t.Errorf("%v: %s %+v", flags, v.State, v.Failure)
		}
		p.end()
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}
