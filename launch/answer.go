package launch

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

// Question names the pause that a run is in, "" when it is in none. No other pause of the
// run has, or will have, that name.
func (st Status) Question() string {
	if st.Paused == nil || st.State.Terminal() || !st.Chain.Verified {
		return ""
	}
	return "paused-" + strconv.FormatInt(st.Paused.At.UnixMicro(), 36)
}

// Answer has a paused run do what one of the verbs does that [Status.Next] names, or cancels
// it, and returns when that is durable and, unless it takes long, begun. A question that is not open is nothing, and a second
// answer the first one's. A verb that does not lead on from here is INVALID_INPUT.
func (s *Service) Answer(ctx context.Context, a Ask, id runs.ID, question, verb string) error {
	v, err := s.changeable(ctx, id, a.Owner)
	if err != nil {
		return err
	}
	open := Status{State: v.State, Paused: v.Paused, Chain: Chain{Verified: true}}.Question()
	if open == "" || open != question {
		return nil
	}
	command := runs.Cancel
	if verb != cancelVerb {
		if command = commandOf(v, verb); command == "" {
			return fault.New(fault.InvalidInput, "%.64q does not lead on from here", verb).WithHint("choose one of those that the question names")
		}
	}
	given, err := s.o.Engine.Command(ctx, id, runs.Command{
		Type: command, Once: &runs.Once{Key: question, Hash: hash([]byte(command))}, CallID: a.CallID, Tool: a.Tool,
	})
	if err != nil {
		return err
	}
	soon, stop := context.WithTimeout(ctx, beginWait)
	defer stop()
	_, err = s.o.Store.Until(soon, id, func(v *runs.View) bool {
		c, _ := v.Command(given)
		return v.Paused == nil || c.Receipt != nil
	})
	if soon.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// beginWait is how long an answer waits to see its effect: who asks next is not asked again.
const beginWait = 2 * time.Second

// cancelVerb ends a run in every state.
const cancelVerb = "launch_cancel"

// Choices returns the verbs that answer the question of a paused run.
func (st Status) Choices() []string {
	if st.Question() == "" || st.Next == nil {
		return nil
	}
	return append(slices.Clone(st.Next.Tools), cancelVerb)
}

// Derived returns what the quickstart that started a run told its caller, as JSON; nil for a
// run that no quickstart started.
func (s *Service) Derived(id runs.ID, owner string) (json.RawMessage, error) {
	if err := s.Visible(id, owner); err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(s.o.Store.Dir(id), derivedFile))
	if os.IsNotExist(err) {
		return nil, nil
	}
	return raw, err
}
