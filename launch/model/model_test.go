package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/egress"
	"github.com/gantry-run/gantry/launch/model"
	"github.com/gantry-run/gantry/runs"
)

const key = "sk-not-to-be-seen-anywhere"

// world is a run's folder, a cache and endpoints on the loopback interface.
type world struct {
	t       *testing.T
	options model.Options
	waits   []time.Duration

	mu     sync.Mutex
	events []runs.Draft
}

func newWorld(t *testing.T, endpoints ...http.Handler) *world {
	t.Helper()
	w := &world{t: t}
	w.options = model.Options{
		MaxTokens: 100, Concurrency: 2, CallBudget: 50, TokenBudget: 100_000, Agent: "gantry/test", Run: t.TempDir(), Cache: t.TempDir(),
		Egress: egress.New([]string{"127.0.0.1"}, map[string]string{"KEY": key, "UNSET": ""}),
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[masked]") },
		Wait:   func(_ context.Context, d time.Duration) error { w.waits = append(w.waits, d); return nil },
	}
	for i, h := range endpoints {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		w.options.Endpoints = append(w.options.Endpoints, model.Endpoint{BaseURL: s.URL + "/v1", Model: fmt.Sprintf("m%d", i), KeyEnv: "KEY", Timeout: time.Minute})
	}
	return w
}

func (w *world) open() *model.Session {
	w.t.Helper()
	s, err := model.Open(w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

func (w *world) tell(d runs.Draft) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := d.Reportable(); err != nil {
		w.t.Error(err)
	}
	w.events = append(w.events, d)
}

func (w *world) told() (types []string) {
	for _, e := range w.events {
		types = append(types, string(e.Type))
	}
	return types
}

func (w *world) ask(s *model.Session, text string) (model.Answer, error) {
	return s.Ask(w.t.Context(), []model.Message{{Role: "system", Content: "Answer."}, {Role: "user", Content: text}}, w.tell)
}

// answers is an endpoint that gives its replies in turn, the last one ever after.
type answers struct {
	mu       sync.Mutex
	replies  []func(http.ResponseWriter, *http.Request)
	requests []string
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body strings.Builder
	if _, err := body.WriteString(r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " "); err == nil {
		var sent json.RawMessage
		json.NewDecoder(r.Body).Decode(&sent)
		body.Write(sent)
	}
	a.mu.Lock()
	reply := a.replies[min(len(a.requests), len(a.replies)-1)]
	a.requests = append(a.requests, body.String())
	a.mu.Unlock()
	reply(w, r)
}

func (a *answers) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.requests)
}

type reply = func(http.ResponseWriter, *http.Request)

func endpoint(replies ...reply) *answers { return &answers{replies: replies} }

func says(text string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		raw, _ := json.Marshal(text)
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":12,"total_tokens":42}}`, raw)
	}
}

func fails(status int, header ...string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"no, not with hunter2"}}`)
	}
}

func writes(body string) reply {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func TestAQuestionCostsOnceAndIsWrittenDown(t *testing.T) {
	t.Parallel()
	e := endpoint(says("Yes. hunter2"))
	w := newWorld(t, e)
	got, err := w.ask(w.open(), "Well? hunter2")
	if err != nil || got.Text != "Yes. hunter2" || got.FinishReason != "stop" || got.Usage != (runs.ModelTokens{Input: 30, Output: 12, Total: 42}) {
		t.Fatal(got, err)
	}
	if want := []string{"LLM_CALL_STARTED", "LLM_CALL_FINISHED"}; !slices.Equal(w.told(), want) {
		t.Errorf("told %v", w.told())
	}
	if !strings.HasPrefix(e.requests[0], "POST /v1/chat/completions Bearer "+key+" {") || !strings.Contains(e.requests[0], `"temperature":0,"max_tokens":100`) {
		t.Errorf("sent %s", e.requests[0])
	}
	again, err := w.ask(w.open(), "Well? hunter2")
	if err != nil || again != got || e.count() != 1 {
		t.Errorf("the second time: %v, %v, %d requests", again, err, e.count())
	}
	call := w.events[0].Payload.(runs.ModelCall).CallID
	raw, err := os.ReadFile(filepath.Join(w.options.Run, "evidence", "llm_calls", call+".json"))
	if err != nil || strings.Contains(string(raw), "hunter2") || !strings.Contains(string(raw), "Yes. [masked]") || !strings.Contains(string(raw), "Well? [masked]") {
		t.Errorf("the evidence: %s, %v", raw, err)
	}
	for _, dir := range []string{w.options.Run, w.options.Cache} {
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if raw, _ := os.ReadFile(path); strings.Contains(string(raw), key) {
					t.Errorf("%s holds the key", path)
				}
			}
			return err
		})
	}
	if _, err := w.ask(w.open(), "Another."); err != nil || e.count() != 2 {
		t.Errorf("another question: %v, %d requests", err, e.count())
	}
}

func TestWhatPassesIsTriedAgainAndThenElsewhere(t *testing.T) {
	t.Parallel()
	hangUp := func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		first, second []reply
		requests      [2]int
		waits         []time.Duration
		text          string
	}{
		"429 that says how long": {[]reply{fails(429, "Retry-After", "7"), says("a")}, nil, [2]int{2, 0}, []time.Duration{7 * time.Second}, "a"},
		"429 until a date": {[]reply{fails(429, "Retry-After", "Fri, 02 Jan 2026 03:04:15 GMT", "Date", "Fri, 02 Jan 2026 03:04:05 GMT"), says("a")}, nil,
			[2]int{2, 0}, []time.Duration{10 * time.Second}, "a"},
		"429 that asks for a day":   {[]reply{fails(429, "Retry-After", "86400"), says("a")}, nil, [2]int{2, 0}, []time.Duration{time.Minute}, "a"},
		"500, then well":            {[]reply{fails(500), fails(503), says("a")}, nil, [2]int{3, 0}, []time.Duration{time.Second, 2 * time.Second}, "a"},
		"a connection that is lost": {[]reply{hangUp, says("a")}, nil, [2]int{2, 0}, []time.Duration{time.Second}, "a"},
		"500 for ever": {[]reply{fails(500)}, []reply{says("b")}, [2]int{4, 1},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "b"},
		"both for ever": {[]reply{fails(500)}, []reply{fails(502)}, [2]int{4, 4},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, time.Second, 2 * time.Second, 4 * time.Second}, ""},
		"a bad request":     {[]reply{fails(400)}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
		"a redirect":        {[]reply{fails(307, "Location", "http://evil.example/")}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
		"no JSON":           {[]reply{writes("<html>")}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
		"no choice":         {[]reply{writes(`{"choices":[]}`)}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
		"no text":           {[]reply{writes(`{"choices":[{"message":{"content":null}}]}`)}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
		"more than is read": {[]reply{writes(strings.Repeat(" ", 5<<20))}, []reply{says("b")}, [2]int{1, 0}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.second == nil {
				c.second = []reply{says("unused")}
			}
			one, two := endpoint(c.first...), endpoint(c.second...)
			w := newWorld(t, one, two)
			got, err := w.ask(w.open(), "Well?")
			var silent *model.Unanswered
			if got.Text != c.text || (c.text == "") != errors.As(err, &silent) {
				t.Errorf("got %q, %v", got.Text, err)
			}
			if n := [2]int{one.count(), two.count()}; n != c.requests {
				t.Errorf("%v requests, want %v", n, c.requests)
			}
			if !slices.Equal(w.waits, c.waits) {
				t.Errorf("waited %v, want %v", w.waits, c.waits)
			}
			if len(w.events) != 2*(c.requests[0]+c.requests[1]) {
				t.Errorf("told %v", w.told())
			}
		})
	}
}

// Some models take neither a temperature nor max_tokens, and say which.
func TestAModelThatTakesLessIsAskedWithLess(t *testing.T) {
	t.Parallel()
	unsupported := func(param string) reply {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"error":{"message":"Unsupported","param":%q,"code":"unsupported_parameter"}}`, param)
		}
	}
	e := endpoint(unsupported("max_tokens"), unsupported("temperature"), says("a"))
	w := newWorld(t, e)
	s := w.open()
	for _, q := range []string{"one", "two"} {
		if got, err := w.ask(s, q); err != nil || got.Text != "a" {
			t.Fatal(got, err)
		}
	}
	if last := e.requests[len(e.requests)-1]; len(e.requests) != 4 || len(w.waits) != 0 || strings.Contains(last, `"max_tokens"`) ||
		!strings.Contains(last, `"max_completion_tokens":100`) || strings.Contains(last, "temperature") {
		t.Errorf("%d requests, waited %v, the last was %s", len(e.requests), w.waits, last)
	}
	e = endpoint(unsupported("messages"))
	w = newWorld(t, e)
	if _, err := w.ask(w.open(), "one"); err == nil || e.count() != 1 {
		t.Errorf("what cannot be left out: %v, %d requests", err, e.count())
	}
	e = endpoint(unsupported("max_tokens"))
	w = newWorld(t, e)
	if _, err := w.ask(w.open(), "one"); err == nil || e.count() != 2 {
		t.Errorf("one that is never content: %v, %d requests", err, e.count())
	}
}

func TestAnEndpointThatIsDownIsNotWaitedForAgain(t *testing.T) {
	t.Parallel()
	e := endpoint(fails(500))
	w := newWorld(t, e)
	s := w.open()
	for _, q := range []string{"one", "two", "three"} {
		if _, err := w.ask(s, q); err == nil {
			t.Fatal("answered")
		}
	}
	if e.count() != 4+1+1 || len(w.waits) != 3 {
		t.Errorf("%d requests, waited %v", e.count(), w.waits)
	}
}

func TestTheFallbacksAnswerIsFoundAgain(t *testing.T) {
	t.Parallel()
	one, two := endpoint(fails(500)), endpoint(says("b"))
	w := newWorld(t, one, two)
	for range 2 {
		if got, err := w.ask(w.open(), "Well?"); err != nil || got.Text != "b" || got.Model != "m1" {
			t.Fatal(got, err)
		}
	}
	if one.count() != 4 || two.count() != 1 {
		t.Errorf("%d and %d requests", one.count(), two.count())
	}
}

func TestASlowEndpointIsLeft(t *testing.T) {
	t.Parallel()
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	w := newWorld(t, endpoint(slow), endpoint(says("b")))
	w.options.Endpoints[0].Timeout = 20 * time.Millisecond
	if got, err := w.ask(w.open(), "Well?"); err != nil || got.Text != "b" {
		t.Fatal(got, err)
	}
	f := w.events[1].Payload.(runs.ModelFailure)
	if f.ErrorClass != "timeout" || !f.Retryable {
		t.Errorf("%+v", f)
	}
}

func TestAWrongConfigurationEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 404} {
		e := endpoint(fails(status))
		w := newWorld(t, e, endpoint(says("b")))
		s := w.open()
		_, err := w.ask(s, "Well?")
		if _, again := w.ask(s, "And this?"); !fault.Is(again, fault.ModelRefused) {
			t.Errorf("%d, and then: %v", status, again)
		}
		if !fault.Is(err, fault.ModelRefused) || fault.From(err).Retryable || e.count() != 1 || strings.Contains(err.Error(), key) {
			t.Errorf("%d: %v, %d requests", status, err, e.count())
		}
	}
	for name, c := range map[string]struct {
		change func(*model.Endpoint)
		code   fault.Code
	}{
		"a host that is not listed":     {func(e *model.Endpoint) { e.BaseURL = "https://evil.example/v1" }, fault.NetworkBlocked},
		"a scheme of its own":           {func(e *model.Endpoint) { e.BaseURL = "file:///etc/passwd" }, fault.NetworkBlocked},
		"a variable that is not listed": {func(e *model.Endpoint) { e.KeyEnv = "AWS_SECRET_ACCESS_KEY" }, fault.NetworkBlocked},
		"a variable that is not set":    {func(e *model.Endpoint) { e.KeyEnv = "UNSET" }, fault.ConfigInvalid},
	} {
		w := newWorld(t, endpoint(says("a")))
		c.change(&w.options.Endpoints[0])
		if _, err := model.Open(w.options); !fault.Is(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBudgetsHold(t *testing.T) {
	t.Parallel()
	e := endpoint(says("a"))
	w := newWorld(t, e)
	w.options.CallBudget = 2
	for i, q := range []string{"one", "two", "one", "three"} {
		_, err := w.ask(w.open(), q) // each time a session of its own, as after a crash
		if want := i == 3; fault.Is(err, fault.ModelCallsExceeded) != want || !want && err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if e.count() != 2 {
		t.Errorf("%d requests", e.count())
	}
	w = newWorld(t, endpoint(says("a")))
	w.options.TokenBudget = 84 // two answers
	s := w.open()
	for i, q := range []string{"one", "two", "three"} {
		if _, err := w.ask(s, q); fault.Is(err, fault.ModelTokensExceeded) != (i == 2) {
			t.Errorf("%s: %v", q, err)
		}
	}
	retried := endpoint(fails(500))
	w = newWorld(t, retried)
	w.options.CallBudget = 3
	if _, err := w.ask(w.open(), "one"); !fault.Is(err, fault.ModelCallsExceeded) || retried.count() != 3 {
		t.Errorf("calls that failed: %v, %d requests", err, retried.count())
	}
}

// A process that dies while it waits for an answer leaves the call open: nobody knows
// what it cost, so it cost what it may have.
func TestACallThatWasCutShortIsPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, endpoint(says("a")))
	if err := os.MkdirAll(filepath.Join(w.options.Run, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	ledger := `{"calls": 1, "input_tokens": 0, "output_tokens": 0, "open": {"llm-x-1": 99950}}`
	if err := os.WriteFile(filepath.Join(w.options.Run, "work", "llm_ledger.json"), []byte(ledger), 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.open()
	if _, err := w.ask(s, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.ask(s, "two"); !fault.Is(err, fault.ModelTokensExceeded) {
		t.Errorf("what was open is not counted: %v", err)
	}
	if err := os.WriteFile(filepath.Join(w.options.Run, "work", "llm_ledger.json"), []byte(`{"calls"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Open(w.options); !fault.Is(err, fault.Internal) {
		t.Errorf("a ledger that cannot be read: %v", err)
	}
}

func TestTheLedgerIsOnTheDiskBeforeTheRequestIsSent(t *testing.T) {
	t.Parallel()
	var w *world
	seen := ""
	w = newWorld(t, endpoint(func(rw http.ResponseWriter, r *http.Request) {
		raw, _ := os.ReadFile(filepath.Join(w.options.Run, "work", "llm_ledger.json"))
		seen = string(raw)
		says("a")(rw, r)
	}))
	if _, err := w.ask(w.open(), "one"); err != nil || !strings.Contains(seen, `"calls": 1`) || !strings.Contains(seen, `"llm-`) {
		t.Errorf("while the request was answered: %s, %v", seen, err)
	}
}

func TestAtMostSoManyRequestsAtOnce(t *testing.T) {
	t.Parallel()
	gate, once, there := make(chan struct{}), sync.Once{}, make(chan struct{}, 30)
	w := newWorld(t, endpoint(func(rw http.ResponseWriter, r *http.Request) {
		if there <- struct{}{}; len(there) == 2 {
			once.Do(func() { close(gate) }) // two are there: let all through
		}
		<-gate
		says("a")(rw, r)
	}))
	s := w.open()
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() { w.ask(s, fmt.Sprint(i)) })
	}
	all.Wait()
	now, most := 0, 0
	for _, e := range w.events {
		if e.Type == runs.LLMCallStarted {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	if most != 2 || len(w.events) != 60 {
		t.Errorf("%d at once, %d events", most, len(w.events))
	}
}

func TestAnAnswerThatWasAlteredIsAskedForAgain(t *testing.T) {
	t.Parallel()
	e := endpoint(says("good"))
	w := newWorld(t, e)
	if _, err := w.ask(w.open(), "one"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.options.Cache, "*", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	raw, _ := os.ReadFile(files[0])
	os.WriteFile(files[0], []byte(strings.Replace(string(raw), "good", "evil", 1)), 0o600)
	if got, err := w.ask(w.open(), "one"); err != nil || got.Text != "good" || e.count() != 2 {
		t.Errorf("%v, %v, %d requests", got, err, e.count())
	}
}

func TestAnInterruptedCallIsNoFailureOfTheEndpoint(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, endpoint(func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() }), endpoint(says("b")))
	_, err := w.open().Ask(ctx, []model.Message{{Role: "user", Content: "x"}}, w.tell)
	if !fault.Is(err, fault.Cancelled) {
		t.Errorf("got %v", err)
	}
	if f := w.events[1].Payload.(runs.ModelFailure); f.ErrorClass != "interrupted" {
		t.Errorf("%+v", f)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, endpoint(says("a")))
	w.options.Endpoints[0].BaseURL = "http://" + l.Addr().String()
	l.Close()
	var silent *model.Unanswered
	if _, err := w.ask(w.open(), "one"); !errors.As(err, &silent) || strings.Contains(err.Error(), "chat/completions") {
		t.Errorf("got %v", err)
	}
}

func TestACallHasItsPriceWhereItIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, endpoint(says("a")))
	w.options.Endpoints[0].Model = "anthropic/claude-sonnet-4.5"
	if _, err := w.ask(w.open(), "one"); err != nil {
		t.Fatal(err)
	}
	a := w.events[1].Payload.(runs.ModelAnswer)
	if a.CostUSD == nil || *a.CostUSD != (30*3.0+12*15.0)/1e6 {
		t.Errorf("%+v", a)
	}
}
