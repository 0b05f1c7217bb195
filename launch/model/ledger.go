package model

import (
	"encoding/json"
	"fmt"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// ledgerFile is what a run has spent, in its folder.
const ledgerFile = "work/llm_ledger.json"

// ledger keeps what a run has spent. It is written before a request is sent and after it
// was answered, so no crash makes a run forget a call.
type ledger struct {
	Calls  int              `json:"calls"`
	Input  int64            `json:"input_tokens"`
	Output int64            `json:"output_tokens"`
	Open   map[string]int64 `json:"open"` // call → tokens that it may cost, while it is not answered
}

// openLedger reads a run's ledger. What was open when its process died counts as spent:
// nobody knows what became of it.
func openLedger(folder *artifacts.Folder) (*ledger, error) {
	l := &ledger{Open: map[string]int64{}}
	raw, err := folder.Read(ledgerFile)
	if fault.Is(err, fault.ArtifactNotFound) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, l)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "the run's record of model calls cannot be read").Because(err)
	}
	for _, tokens := range l.Open {
		l.Input += tokens
	}
	l.Open = map[string]int64{}
	return l, nil
}

func (l *ledger) write(folder *artifacts.Folder) error {
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	_, err = folder.Write(ledgerFile, append(raw, '\n'))
	return err
}

// begin counts a call that is about to be sent and names it. It is refused when the run
// has spent its budget.
func (s *Session) begin(key string, tokens int64) (call string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ledger
	switch {
	case l.Calls >= s.o.CallBudget:
		return "", fault.New(fault.ModelCallsExceeded, "the run has made %d model calls, which is its budget", l.Calls).
			WithHint("Start a run with a larger budgets.max_llm_calls; what was answered is not asked again.")
	case l.Input+l.Output >= s.o.TokenBudget:
		return "", s.tokensExceeded()
	}
	l.Calls++
	call = fmt.Sprintf("llm-%s-%d", key[:16], l.Calls)
	l.Open[call] = tokens
	return call, l.write(s.folder)
}

func (s *Session) tokensExceeded() error {
	return fault.New(fault.ModelTokensExceeded, "the run has used %d model tokens of its budget of %d", s.ledger.Input+s.ledger.Output, s.o.TokenBudget).
		WithHint("Start a run with a larger budgets.max_llm_tokens; what was answered is not asked again.")
}

// end records what a call cost. A call that failed cost nothing that is known of. One that
// cost more than was left ends the run: requests that are sent side by side are counted
// when they are answered, and the sum does not depend on their order.
func (s *Session) end(call string, usage runs.ModelTokens) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ledger.Open, call)
	s.ledger.Input += usage.Input
	s.ledger.Output += usage.Output
	if err := s.ledger.write(s.folder); err != nil {
		return err
	}
	if s.ledger.Input+s.ledger.Output > s.o.TokenBudget {
		return s.tokensExceeded()
	}
	return nil
}
