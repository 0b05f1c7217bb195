package boardtools

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/board/changes"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/specs"
)

// A field that is misspelt, or forgotten in the schema, would otherwise be silently
// without effect.
func TestInAndOutOfEveryToolAreThoseOfItsSchemas(t *testing.T) {
	tools, err := Tools(Deps{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := specs.Tools(Toolset)
	if err != nil || len(tools) != len(all) || len(all) != 19 {
		t.Fatalf("%d tools for %d specifications, want 19: %v", len(tools), len(all), err)
	}
	for i, tool := range tools {
		if tool.Spec.Name != all[i].Name {
			t.Errorf("tool %d is %s, want %s", i, tool.Spec.Name, all[i].Name)
		}
		for _, m := range tool.Mismatch() {
			t.Errorf("%s: %s", tool.Spec.Name, m)
		}
		if _, err := os.Stat(tool.Spec.Name + ".go"); err != nil {
			t.Error(err)
		}
	}
}

func TestInstructionsAreShort(t *testing.T) {
	if len(Instructions) > 1024 {
		t.Errorf("they have %d bytes", len(Instructions))
	}
}

func TestEveryReasonToBlockHasAHint(t *testing.T) {
	for _, why := range []changes.Reason{changes.SummaryFailed, changes.ThresholdExceeded, changes.PathOutsideWorkspace, changes.SizeExceeded, changes.TooManyPaths} {
		b := blockedOut(true, why)
		if !b.Blocked || *b.Reason != why || b.Code != "blocked_guardrails" || *b.Retryable || b.Hint == "" {
			t.Errorf("%s: %+v", why, b)
		}
	}
	if b := blockedOut(false, ""); b != (blocked{}) {
		t.Errorf("%+v", b)
	}
}

func TestAListIsPagedToItsEndAndStaysSmall(t *testing.T) {
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("%03d %s", i, strings.Repeat("x", 60)))
	}
	name := func(s string) string { return s }
	for _, limit := range []int{0, 1, 7, 200} {
		var got []string
		for cursor, pages := "", 0; ; pages++ {
			page, next, err := paged(all, name, limit, cursor, listBytes)
			if err != nil || len(page) == 0 || limit > 0 && len(page) > limit || limit == 0 && len(strings.Join(page, `","`)) > listBytes {
				t.Fatalf("limit %d: a page of %d: %v", limit, len(page), err)
			}
			if got = append(got, page...); next == nil {
				break
			}
			cursor = *next
		}
		if strings.Join(got, " ") != strings.Join(all, " ") {
			t.Errorf("limit %d: %d items", limit, len(got))
		}
	}
	if _, _, err := paged(all, name, 0, "deadbeef", listBytes); !fault.Is(err, fault.InvalidCursor) {
		t.Errorf("an unknown cursor gives %v", err)
	}
	if page, next, err := paged([]string{}, name, 0, "", listBytes); len(page) != 0 || page == nil || next != nil || err != nil {
		t.Errorf("of nothing: %v %v %v", page, next, err)
	}
}

func TestAnItemThatIsTooLargeIsAPageOfItsOwn(t *testing.T) {
	if n := fitting([]string{strings.Repeat("x", listBytes), "y"}, listBytes); n != 1 {
		t.Error(n)
	}
}

func TestATranscriptIsPagedFromItsEnd(t *testing.T) {
	var all []message
	for i := range 450 {
		all = append(all, message{Index: i + 1, Prompt: strings.Repeat("p", 100)})
	}
	for _, limit := range []int{0, 3, 1000} {
		in, seen := tailSessionMessagesIn{Limit: limit}, 0
		for want := 450; ; {
			out := in.page("s", append([]message{}, all...))
			if n := len(out.Entries); n == 0 || n > max(defaultMessages, min(limit, maxMessages)) || out.Entries[n-1].Index != want {
				t.Fatalf("limit %d: %d entries, up to %+v", limit, n, out.Entries)
			}
			seen, want = seen+len(out.Entries), out.Entries[0].Index-1
			if out.HasMore != (out.NextCursor != nil) {
				t.Fatalf("has_more is %v, and next_cursor %v", out.HasMore, out.NextCursor)
			}
			if in.Cursor = out.NextCursor; in.Cursor == nil {
				break
			}
		}
		if seen != 450 {
			t.Errorf("limit %d: %d of 450 seen", limit, seen)
		}
	}
	if out := (tailSessionMessagesIn{}).page("s", nil); out.Entries == nil && len(out.Entries) != 0 || out.HasMore || out.NextCursor != nil {
		t.Errorf("%+v", out)
	}
}

func TestALongTranscriptStaysInBounds(t *testing.T) {
	all := make([]message, 100)
	for i := range all {
		all[i] = message{Index: i + 1, Prompt: strings.Repeat("p", 8000)}
	}
	out := (tailSessionMessagesIn{Limit: 100}).page("s", all)
	if n := len(out.Entries); n != 7 || out.Entries[n-1].Index != 100 || *out.NextCursor != 94 {
		t.Errorf("%d entries, next_cursor %v", n, out.NextCursor)
	}
}

func TestATurnThatHasNotEndedHasNoSummary(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	m := messageOut(sessions.Turn{ID: "t", Index: 2, Prompt: "p", Started: began})
	if m.Summary != nil || m.CreatedAt != began.UTC() || m.UpdatedAt != began.UTC() {
		t.Errorf("%+v", m)
	}
	m = messageOut(sessions.Turn{Started: began, Ended: began.Add(time.Minute), Summary: agents.Summary{LastMessage: "done"}})
	if *m.Summary != "done" || m.UpdatedAt != began.Add(time.Minute).UTC() {
		t.Errorf("%+v", m)
	}
}

func TestLimitsOfLogsAreDefaultsAndCaps(t *testing.T) {
	for _, c := range []struct {
		limit   int
		channel entries.Channel
		want    int
	}{{0, entries.Normalized, 20}, {0, entries.Raw, 200}, {5, entries.Raw, 5}, {1 << 50, entries.Normalized, 1000}} {
		if got := (tailAttemptLogsIn{Limit: c.limit, Channel: c.channel}).limit(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestExactlyOneTargetIsTaken(t *testing.T) {
	for _, c := range []struct {
		target
		want fault.Code
	}{{target{}, fault.MissingRequired}, {target{"a", "b"}, fault.AmbiguousTarget}} {
		_, err := Deps{}.session(t.Context(), &guard.Call{}, c.target)
		if f := fault.From(err); f == nil || f.Code != c.want || f.Hint != "supply exactly one of attempt_id and session_id" {
			t.Errorf("%+v: %v", c.target, err)
		}
	}
}

func TestAMessageThatBecameATurnIsNotQueued(t *testing.T) {
	base := followUpOut{SessionID: "s", Action: queue}
	if o := base.with(sessions.Queued{Turn: &sessions.Turn{ID: "t"}}); o.Status != "empty" || o.ProcessID != "t" || o.Queued != nil {
		t.Errorf("%+v", o)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := base.with(sessions.Queued{Message: "m", At: at})
	if o.Status != "queued" || o.ProcessID != "" || *o.Queued != (queued{"s", "m", nil, at}) {
		t.Errorf("%+v", o)
	}
}
