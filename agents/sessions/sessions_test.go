package sessions

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/agents/entries"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

func TestASessionRunsATurnAndIsGoneOnWith(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.begin("hello you")
	if s.State != Running || s.Turns != 1 || s.Last.Prompt != "hello you" || s.Last.ID != TurnID(s.ID, 1) || !runs.IsUUID(s.Last.ID) {
		t.Errorf("%+v", s)
	}
	s = p.rest(s.ID)
	if s.State != Idle || s.Thread != "thread-work" || s.Name != "thread-work" || s.LastResult != "hello of no" || s.PID != 0 ||
		s.Last.ExitCode == nil || *s.Last.ExitCode != 0 || s.Last.State != TurnCompleted || s.Last.Ended.Before(s.Last.Started) {
		t.Errorf("%+v", s)
	}
	turn, err := p.Send(t.Context(), Ask{}, s.ID, "again", "")
	if err != nil || turn.Index != 2 || turn.State != TurnRunning || turn.Prompt != "again" {
		t.Fatalf("%+v, %v", turn, err)
	}
	s = p.rest(s.ID)
	if s.LastResult != "again of thread-work" || s.Turns != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := p.o.Supervisor.Status(processKey(s.ID, 1)); !errors.Is(err, proc.ErrNoProcess) {
		t.Errorf("the output of the first turn is kept twice: %v", err)
	}
	all, err := p.Turns("", s.ID)
	if err != nil || len(all) != 2 || all[0].Summary.LastMessage != "hello of no" || all[1].Summary.LastMessage != "again of thread-work" {
		t.Errorf("%+v, %v", all, err)
	}
	// The agent counts all turns together, the turn only its own.
	if all[0].Summary.Usage.InputTokens != 10 || all[1].Summary.Usage.InputTokens != 0 {
		t.Errorf("%+v, %+v", all[0].Summary.Usage, all[1].Summary.Usage)
	}
	if diff := cmp.Diff([]string{"user_message hello you", "assistant_message hello of no"}, p.history(s.ID, all[0], entries.Normalized)[:2]); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{string(s.ID), "thread-work"} {
		if found, err := p.Find("", name); err != nil || found.ID != s.ID {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.Find("somebody", name); err != nil {
			t.Errorf("what the local user started is seen by every token: %v", err)
		}
	}
	if _, err := p.Find("", "thread-none"); !fault.Is(err, fault.SessionNotFound) {
		t.Error(err)
	}
}

func TestATurnThatFailsLeavesASessionThatCanBeGoneOnWith(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.rest(p.begin("fail").ID)
	if s.State != Died || s.Last.State != TurnFailed || *s.Last.ExitCode != 3 || !strings.Contains(s.Last.Error, "exit code 3") || !strings.Contains(s.Last.Error, "no luck today") {
		t.Errorf("%+v", s)
	}
	if _, err := p.Send(t.Context(), Ask{}, s.ID, "again", ""); err != nil {
		t.Fatal(err)
	}
	if s = p.rest(s.ID); s.State != Idle || s.LastResult != "again of thread-work" {
		t.Errorf("%+v", s)
	}
}

func TestOneTurnAtATimeAcrossPrograms(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p, other := l.start(), l.start()
	s := p.begin("wait")
	p.said(s.ID, "waiting")
	for _, q := range []*program{p, other} {
		if _, err := q.Send(t.Context(), Ask{}, s.ID, "no", ""); !fault.Is(err, fault.RunLocked) || !fault.From(err).Retryable {
			t.Errorf("a send in mid turn: %v", err)
		}
	}
	if _, err := other.Archive(t.Context(), Ask{}, s.ID, false); !fault.Is(err, fault.RunLocked) {
		t.Errorf("an archive in mid turn: %v", err)
	}
	l.open()
	p.rest(s.ID)
	// Two programs send at one moment: one turn comes of it, or two one after the other.
	turns := make(chan error, 2)
	for _, q := range []*program{p, other} {
		go func() { _, err := q.Send(t.Context(), Ask{}, s.ID, "race", ""); turns <- err }()
	}
	begun := 1
	for range 2 {
		if err := <-turns; err == nil {
			begun++
		} else if !fault.Is(err, fault.RunLocked) {
			t.Error(err)
		}
	}
	if s = p.rest(s.ID); s.Turns != begun || begun < 2 || len(l.prompts()) != begun {
		t.Errorf("%d turns, %d were begun, the agent was asked %q", s.Turns, begun, l.prompts())
	}
}

func TestAKeyActsOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p, other := l.start(), l.start()
	once := func(key, hash string) Ask { return Ask{Once: &runs.Once{Key: key, Hash: hash}} }
	r := l.request("first")
	r.Ask = once("a", "1")
	s, err := p.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	p.rest(s.ID)
	if again, err := other.Start(t.Context(), r); err != nil || again.ID != s.ID {
		t.Errorf("%s, %v", again.ID, err)
	}
	r.Ask = once("a", "2")
	if _, err := other.Start(t.Context(), r); !fault.Is(err, fault.IdempotencyConflict) {
		t.Error(err)
	}
	first, err := p.Send(t.Context(), once("b", "1"), s.ID, "wait here", "")
	if err != nil {
		t.Fatal(err)
	}
	p.said(s.ID, "waiting")
	// Also while its turn is under way, which any other send is refused for.
	if again, err := other.Send(t.Context(), once("b", "1"), s.ID, "wait here", ""); err != nil || again.ID != first.ID {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := other.Send(t.Context(), once("b", "2"), s.ID, "other", ""); !fault.Is(err, fault.IdempotencyConflict) {
		t.Error(err)
	}
	q, err := p.Queue(t.Context(), once("c", "1"), s.ID, "later", "")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := other.Queue(t.Context(), once("c", "1"), s.ID, "later", ""); err != nil || !again.At.Equal(q.At) || again.Message != "later" {
		t.Errorf("%+v, %v, want %+v", again, err, q)
	}
	l.open()
	p.until(s.ID, "the queued turn", func(s Session) bool { return s.Turns == 3 && s.State == Idle })
	if got := l.prompts(); !slices.Equal(got, []string{"first", "wait here", "later"}) {
		t.Errorf("the agent was asked %q", got)
	}
}

func TestAQueuedMessageIsReplacedTakenBackAndDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p, other := l.start(), l.start()
	s := p.begin("wait")
	p.said(s.ID, "waiting")
	for _, text := range []string{"one", "two"} {
		if q, err := other.Queue(t.Context(), Ask{}, s.ID, text, ""); err != nil || q.Message != text || q.Turn != nil {
			t.Fatalf("%+v, %v", q, err)
		}
	}
	if got, err := p.Get("", s.ID); err != nil || got.Queued == nil || got.Queued.Message != "two" {
		t.Fatalf("%+v, %v", got.Queued, err)
	}
	if err := other.Unqueue(t.Context(), Ask{}, s.ID); err != nil {
		t.Fatal(err)
	}
	if got, _ := p.Get("", s.ID); got.Queued != nil {
		t.Errorf("%+v", got.Queued)
	}
	if _, err := p.Queue(t.Context(), Ask{}, s.ID, "three", ""); err != nil {
		t.Fatal(err)
	}
	if s, err := other.Stop(t.Context(), Ask{}, s.ID, false); err != nil || s.State != Idle || s.Queued != nil || s.Last.State != TurnKilled {
		t.Errorf("%+v, %v", s, err)
	}
	// No turn is under way: it is one at once.
	q, err := p.Queue(t.Context(), Ask{}, s.ID, "four", "")
	if err != nil || q.Turn == nil || q.Turn.Index != 2 {
		t.Fatalf("%+v, %v", q, err)
	}
	p.rest(s.ID)
	if got := l.prompts(); !slices.Equal(got, []string{"wait", "four"}) {
		t.Errorf("the agent was asked %q", got)
	}
}

func TestAStopInterruptsThenKills(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p, other := l.start(), l.start()
	s := p.begin("polite")
	p.said(s.ID, "stubborn")
	s, err := other.Stop(t.Context(), Ask{}, s.ID, false)
	if err != nil || s.State != Idle || s.Last.State != TurnKilled || s.LastResult != "interrupted" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = p.Stop(t.Context(), Ask{}, s.ID, false); err != nil || s.State != Idle {
		t.Errorf("a stop of an idle session: %+v, %v", s, err)
	}
	if _, err := p.Send(t.Context(), Ask{}, s.ID, "deaf", ""); err != nil {
		t.Fatal(err)
	}
	p.said(s.ID, "stubborn")
	s, err = other.Stop(t.Context(), Ask{}, s.ID, true)
	if err != nil || s.State != Idle || s.Last.State != TurnKilled || s.Last.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestAnAgentGoesOnWithoutAProgramAndTheNextOneGoesOnWithTheTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.begin("wait")
	p.said(s.ID, "waiting")
	if _, err := p.Queue(t.Context(), Ask{}, s.ID, "mixed", ""); err != nil {
		t.Fatal(err)
	}
	p.exit()
	l.open()
	next := l.start()
	if _, err := next.eng.AdoptNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = next.until(s.ID, "the queued turn", func(s Session) bool { return s.Turns == 2 && s.State == Idle })
	all, err := next.Turns("", s.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user_message wait", "assistant_message waiting", "assistant_message wait of no"}
	if diff := cmp.Diff(want, next.history(s.ID, all[0], entries.Normalized)[:3]); diff != "" {
		t.Error(diff)
	}
	if n := len(next.history(s.ID, all[0], entries.Raw)); n != 4 {
		t.Errorf("%d raw lines", n)
	}
	if all[0].State != TurnCompleted || all[1].Summary.LastMessage != "mixed of thread-work" {
		t.Errorf("%+v", all)
	}
}

// Whatever part of a history is there, a feed that goes on from it makes the same whole.
func TestAFeedGoesOnFromAnywhere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	for _, prompt := range []string{"mixed", "broken"} {
		s := p.begin(prompt)
		s = p.rest(s.ID)
		raw, norm := p.history(s.ID, s.Last, entries.Raw), p.history(s.ID, s.Last, entries.Normalized)
		if len(raw) < 4 || len(norm) < 2 {
			t.Fatalf("%q %q", raw, norm)
		}
		store := entries.New(t.TempDir())
		registry, _ := agents.CLIs(agents.Options{})
		cli, _ := registry.Find("codex")
		for cut := range len(raw) + 1 {
			turn := strings.Repeat("x", cut+1)
			feed := func() *feed {
				f, err := newFeed(store, p.o.Supervisor, cli.Decoder(l.work), "s", turn, processKey(s.ID, 1), p.o.Now)
				if err == nil {
					err = f.say(agents.UserMessage, prompt)
				}
				if err == nil {
					err = f.again(store, "s", turn, true)
				}
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			first := feed()
			for i := range cut { // as far as the first one came
				stream := index(strings.HasPrefix(raw[i], "STDERR"))
				line, ok, err := first.streams[stream].next(true)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				first.rawBatch = append(first.rawBatch, agents.Raw(line, stream == 1)...)
				if i < cut-1 {
					first.take(line, stream == 1) // of the last one only the raw entry is there
				}
			}
			if err := first.flush(); err != nil {
				t.Fatal(err)
			}
			first.close()
			second := feed()
			if _, err := second.pump(true); err != nil {
				t.Fatal(err)
			}
			second.close()
			for _, ch := range []entries.Channel{entries.Raw, entries.Normalized} {
				n, _ := store.Count("s", turn, ch)
				if want := map[entries.Channel]int{entries.Raw: len(raw), entries.Normalized: len(norm)}[ch]; int(n) != want {
					t.Errorf("%s cut at %d: %d %s entries, want %d", prompt, cut, n, ch, want)
				}
			}
		}
	}
}

func TestAnArchivedSessionIsOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.begin("wait")
	p.said(s.ID, "waiting")
	s, err := p.Archive(t.Context(), Ask{}, s.ID, true)
	if err != nil || s.State != Archived || !strings.HasPrefix(s.Archive, "archive/") || filepath.Base(s.Archive) != "thread-work" {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, err := os.Stat(filepath.Join(s.View, s.Archive, "task.json")); err != nil {
		t.Error(err)
	}
	if again, err := p.Archive(t.Context(), Ask{}, s.ID, false); err != nil || again.Archive != s.Archive {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := p.Send(t.Context(), Ask{}, s.ID, "hello", ""); !fault.Is(err, fault.IllegalState) {
		t.Error(err)
	}
	if again, err := p.Stop(t.Context(), Ask{}, s.ID, false); err != nil || again.State != Archived {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestWhatCannotBeStartedIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	for name, c := range map[string]struct {
		change func(*StartRequest)
		code   fault.Code
	}{
		"no prompt":          {func(r *StartRequest) { r.Prompt = " \n" }, fault.InvalidInput},
		"a long prompt":      {func(r *StartRequest) { r.Prompt = strings.Repeat("x", MaxPrompt+1) }, fault.InvalidInput},
		"a NUL":              {func(r *StartRequest) { r.Prompt = "a\x00b" }, fault.InvalidInput},
		"no text":            {func(r *StartRequest) { r.Prompt = "a\xff" }, fault.InvalidInput},
		"a long title":       {func(r *StartRequest) { r.Title = strings.Repeat("x", maxTitle+1) }, fault.InvalidInput},
		"no such executor":   {func(r *StartRequest) { r.Executor = "NOBODY" }, fault.InvalidInput},
		"no such variant":    {func(r *StartRequest) { r.Variant = "danger-full-access" }, fault.InvalidInput},
		"an option as model": {func(r *StartRequest) { r.Model = "--yolo" }, fault.InvalidInput},
		"not installed":      {func(r *StartRequest) { r.Executor = "OPENCODE" }, fault.ExecutorUnavailable},
		"a relative folder":  {func(r *StartRequest) { r.Dir = "work" }, fault.InvalidInput},
		"no such folder":     {func(r *StartRequest) { r.Dir = l.dir + "/none" }, fault.InvalidInput},
		"a file":             {func(r *StartRequest) { r.Dir = l.dir + "/bin/codex" }, fault.InvalidInput},
		"outside":            {func(r *StartRequest) { r.Under, r.Dir = l.work, l.dir }, fault.PathOutsideRoot},
		"the root of all":    {func(r *StartRequest) { r.Under, r.Dir = l.work, "/" }, fault.PathOutsideRoot},
		"out by dots":        {func(r *StartRequest) { r.Under, r.Dir = l.work, l.work+"/../none" }, fault.PathOutsideRoot},
		"out by a link":      {func(r *StartRequest) { r.Under, r.Dir = l.work, l.work+"/link" }, fault.PathOutsideRoot},
		"no UUID":            {func(r *StartRequest) { r.ID = "r_20260102_abcdefgh" }, fault.InvalidInput},
	} {
		_ = os.Symlink(l.dir, l.work+"/link")
		r := l.request("hello")
		c.change(&r)
		if _, err := p.Start(t.Context(), r); !fault.Is(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if page, err := p.List(t.Context(), Filter{Limit: 10}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestALogIsThePromptsAndTheLinesOfAllTurns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.begin("fail \"twice\"")
	p.rest(s.ID)
	if _, err := p.Send(t.Context(), Ask{}, s.ID, "hello", ""); err != nil {
		t.Fatal(err)
	}
	s = p.rest(s.ID)
	whole, err := p.Log("", s.ID, LogQuery{Limit: 100})
	if err != nil || whole.First != 0 || whole.Total != int64(len(whole.Lines)) {
		t.Fatalf("%+v, %v", whole, err)
	}
	text := strings.Join(whole.Lines, "\n")
	for _, want := range []string{`{"type":"user_message","message":"fail \"twice\""}`, `{"type":"stderr","message":"no luck today"}`, `{"type":"user_message","message":"hello"}`} {
		if !slices.Contains(whole.Lines, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	var pieces []string
	for at := int64(0); at < whole.Total; {
		piece, err := p.Log("", s.ID, LogQuery{After: &at, Limit: 2})
		if err != nil || piece.First != at || len(piece.Lines) == 0 {
			t.Fatalf("%+v, %v", piece, err)
		}
		pieces, at = append(pieces, piece.Lines...), piece.Next()
	}
	if diff := cmp.Diff(whole.Lines, pieces); diff != "" {
		t.Error(diff)
	}
	shown, err := os.ReadFile(filepath.Join(s.View, s.Name, "task.log"))
	if err != nil || strings.TrimSpace(string(shown)) != text {
		t.Errorf("the task store has %s, %v, want\n%s", shown, err, text)
	}
}

func TestAnAgentThatDiesBeforeItNamesTheConversationIsFoundByTheSession(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p := l.start()
	s := p.rest(p.begin("early").ID)
	if s.State != Died || s.Thread != "" || s.Name != string(s.ID) {
		t.Errorf("%+v", s)
	}
	if found, err := p.Find("", s.Name); err != nil || found.ID != s.ID {
		t.Error(err)
	}
}
