package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/runs"
)

func TestOnlyArtifactsCanBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start("")
	w.in(id, runs.StateReadyForPR)
	for _, name := range []string{
		"sources.json", "../sources.json", "drive.lock", "call.lock", "work.lock", "commands", "artifacts", "artifacts/page_plan.json",
		"work/site/hugo.toml", "../../index.db", "/etc/passwd", "", ".", "..", "page_plan.json\x00", "nothing.json", "telemetry.db",
	} {
		if s, err := w.svc.Artifact(id, "", name, 0, 100); !fault.Is(err, fault.ArtifactNotFound) || s.Data != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	st, err := w.svc.Status(t.Context(), id, "")
	if err != nil || len(st.Artifacts) < 10 {
		t.Fatalf("%d artifacts, %v", len(st.Artifacts), err)
	}
	for _, a := range st.Artifacts {
		s, err := w.svc.Artifact(id, "", a.Name, 0, 1<<20)
		if err != nil || !s.Text || s.SHA256 != a.SHA256 || hash(s.Data) != a.SHA256 || s.Size != int64(len(s.Data)) || s.Next != 0 {
			t.Errorf("%s: %+v, %v", a.Name, s, err)
		}
	}
	for _, name := range []string{SnapshotName, ConfigName, EventsName} {
		s, err := w.svc.Artifact(id, "", name, 0, 1<<20)
		if err != nil || hash(s.Data) != s.SHA256 || s.Size != int64(len(s.Data)) {
			t.Errorf("%s: %v", name, err)
		}
		if past, err := w.svc.Artifact(id, "", name, 1<<40, 100); err != nil || len(past.Data) != 0 || past.Next != 0 {
			t.Errorf("%s past its end: %+v, %v", name, past, err)
		}
	}
}

// Whatever the size of the pieces, they put together the file, and a piece of text
// is text.
func TestSlicesEndBetweenCharacters(t *testing.T) {
	text := strings.Repeat("aé漢😀\n", 20)
	for name, content := range map[string]string{"text": text, "latin": "caf\xe9 au lait, s'il vous pla\xeet", "empty": "", "cut": "ab\xe6\xbc"} {
		for limit := int64(1); limit <= 20; limit++ {
			var got []byte
			for steps := 0; ; steps++ {
				offset := int64(len(got))
				end := min(offset+limit, int64(len(content)))
				s := finishSlice(Slice{Data: []byte(content[offset:end]), Size: int64(len(content))}, offset)
				if s.Text != utf8.Valid(s.Data) {
					t.Fatalf("%s by %d: %q is said to be text: %v", name, limit, s.Data, s.Text)
				}
				if name == "text" && limit >= utf8.UTFMax && !s.Text {
					t.Fatalf("by %d: %q is no text", limit, s.Data)
				}
				got = append(got, s.Data...)
				if s.Next == 0 {
					break
				}
				if s.Next != int64(len(got)) || steps > len(content) {
					t.Fatalf("%s by %d: next is %d after %d bytes", name, limit, s.Next, len(got))
				}
			}
			if string(got) != content {
				t.Fatalf("%s by %d: %q", name, limit, got)
			}
		}
	}
}

func TestOthersRunsDoNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	started, err := w.svc.Start(t.Context(), Ask{Owner: "alice"}, json.RawMessage(`{"github_repo_url":"product"}`))
	if err != nil {
		t.Fatal(err)
	}
	hers, local := started.ID, w.start("")
	w.rest(hers)
	w.rest(local)
	elsewhere := w.as(func(o *Options) { o.Root = filepath.Join(w.root, "product") })
	everywhere := w.as(func(o *Options) { o.Root, o.AllRoots = filepath.Join(w.root, "product"), true })
	for _, c := range []struct {
		svc   *Service
		owner string
		id    runs.ID
		sees  bool
	}{
		{w.svc, "alice", hers, true}, {w.svc, "bob", hers, false}, {w.svc, "", hers, false},
		{w.svc, "alice", local, true}, {w.svc, "bob", local, true}, {w.svc, "", local, true},
		{elsewhere, "alice", hers, false}, {elsewhere, "", local, false},
		{everywhere, "alice", hers, true}, {everywhere, "bob", hers, false}, {everywhere, "", local, true},
	} {
		a, ctx := Ask{Owner: c.owner}, t.Context()
		page, err := c.svc.List(ctx, c.owner, Filter{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if listed := slices.ContainsFunc(page.Runs, func(r runs.Summary) bool { return r.ID == c.id }); listed != c.sees {
			t.Errorf("%q lists %s: %v, want %v", c.owner, c.id, listed, c.sees)
		}
		if err := c.svc.Visible(c.id, c.owner); (err == nil) != c.sees {
			t.Errorf("%q: %v", c.owner, err)
		}
		if c.sees {
			continue
		}
		for name, do := range map[string]func() error{
			"status":   func() error { _, err := c.svc.Status(ctx, c.id, c.owner); return err },
			"artifact": func() error { _, err := c.svc.Artifact(c.id, c.owner, "page_plan.json", 0, 1); return err },
			"watch":    func() error { _, err := c.svc.Watch(ctx, c.id, c.owner); return err },
			"validate": func() error { _, err := c.svc.Validate(ctx, a, c.id); return err },
			"fix":      func() error { _, err := c.svc.FixNext(ctx, a, c.id); return err },
			"resume":   func() error { _, err := c.svc.Resume(ctx, a, c.id, ""); return err },
			"cancel":   func() error { _, err := c.svc.Cancel(ctx, a, c.id); return err },
			"open_pr":  func() error { _, err := c.svc.OpenPR(ctx, a, c.id, false); return err },
		} {
			if err := do(); !fault.Is(err, fault.RunNotFound) {
				t.Errorf("%q, %s of %s: %v", c.owner, name, c.id, err)
			}
		}
	}
}

func TestOneKeyUnderTwoRootsIsTwoRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.repository("nested/product", productFiles)
	other := w.as(func(o *Options) { o.Root = filepath.Join(w.root, "nested") })
	ask := Ask{Once: &runs.Once{Key: "k", Hash: strings.Repeat("a", 64)}}
	raw := json.RawMessage(`{"github_repo_url":"product"}`)
	one, err := w.svc.Start(t.Context(), ask, raw)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.svc.Start(t.Context(), ask, raw); err != nil || again.ID != one.ID {
		t.Errorf("again: %s, %v", again.ID, err)
	}
	if two, err := other.Start(t.Context(), ask, raw); !fault.Is(err, fault.IdempotencyConflict) {
		t.Errorf("under another root: %s, %v", two.ID, err)
	}
	w.rest(one.ID)
}

func TestStatusSaysWhatLeadsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, breakSite)
	id := w.start("")
	w.in(id, runs.StateValidating)
	st, err := w.svc.Status(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	if st.Paused == nil || !slices.Equal(st.Next.Tools, []string{"launch_fix_next", "launch_validate"}) || st.Next.Reason == "" {
		t.Errorf("paused %+v, next %+v", st.Paused, st.Next)
	}
	var report dossier.ValidationReport
	v, _ := w.store.View(id)
	if err := w.svc.document(v, dossier.ValidationReportName, &report); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, i := range report.Issues {
		want = append(want, i.ID)
	}
	for _, i := range st.Issues {
		got = append(got, i.IssueID)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 2 {
		t.Errorf("open issues are not in the order of the report: %s", diff)
	}
	if !st.Chain.Verified || st.Chain.Seq != v.Seq || st.Chain.Hash != v.Head {
		t.Errorf("chain %+v", st.Chain)
	}
	for range 20 {
		if v := w.in(id, runs.StateValidating); v.Paused == nil {
			t.Fatal("not paused")
		}
		if _, err := w.svc.FixNext(t.Context(), Ask{}, id); err != nil {
			t.Fatal(err)
		}
		if v, _ := w.store.View(id); v.State == runs.StateReadyForPR {
			break
		}
	}
	w.in(id, runs.StateReadyForPR)
	st, _ = w.svc.Status(t.Context(), id, "")
	if !slices.Equal(st.Next.Tools, []string{"launch_open_pr", "launch_validate"}) || st.Rollback != nil {
		t.Errorf("next %+v, rollback %v", st.Next, st.Rollback)
	}
	first, err := w.svc.OpenPR(t.Context(), Ask{}, id, false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.svc.OpenPR(t.Context(), Ask{}, id, false); err != nil || again != first {
		t.Errorf("again: %+v, %v", again, err)
	}
	st, _ = w.svc.Status(t.Context(), id, "")
	if st.State != runs.StateDone || st.Next != nil || st.Paused != nil || len(st.Rollback) == 0 {
		t.Errorf("%s, next %+v, rollback %v", st.State, st.Next, st.Rollback)
	}
	for name, do := range map[string]func() error{
		"fix":    func() error { _, err := w.svc.FixNext(t.Context(), Ask{}, id); return err },
		"resume": func() error { _, err := w.svc.Resume(t.Context(), Ask{}, id, ""); return err },
		"cancel": func() error { _, err := w.svc.Cancel(t.Context(), Ask{}, id); return err },
	} {
		if err := do(); !fault.Is(err, fault.IllegalState) {
			t.Errorf("%s of a run that is DONE: %v", name, err)
		}
	}
	before, _ := w.store.View(id)
	if report, err := w.svc.Validate(t.Context(), Ask{}, id); err != nil || !report.OK {
		t.Errorf("validate of a run that is DONE: %v", err)
	}
	if after, _ := w.store.View(id); after.Seq != before.Seq {
		t.Error("it did more than report")
	}
}

// breakSite spoils a page once it is merged.
func breakSite(name string, do runs.Activity) runs.Activity {
	if name != "merge_and_link" {
		return do
	}
	return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
		r, err := do(ctx, work, try)
		if err == nil {
			err = breakPage(try.Dir)
		}
		return r, err
	}
}

// rebreaking spoils it again before each validation.
func rebreaking(name string, do runs.Activity) runs.Activity {
	if name != "validate" {
		return do
	}
	return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
		if err := breakPage(try.Dir); err != nil {
			return runs.Result{}, err
		}
		return do(ctx, work, try)
	}
}

// breakPage gives a page two issues that can be fixed: a field and a link.
func breakPage(run string) error {
	pages, err := filepath.Glob(filepath.Join(run, "work", "site", "content", "docs", "widget", "*.md"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no pages: %w", err)
	}
	raw, err := os.ReadFile(pages[0])
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "description:") || strings.HasPrefix(l, "See [more]")
	})
	return os.WriteFile(pages[0], []byte(strings.TrimRight(strings.Join(lines, "\n"), "\n")+"\n\nSee [more](../no-such-page/).\n"), 0o644)
}

// A chain is checked when it has grown, and not each time somebody asks.
func TestADamagedJournalIsShownAsItWasBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start("")
	w.in(id, runs.StateReadyForPR)
	path := filepath.Join(w.store.Dir(id), "events.ndjson")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	lines[4] = strings.Replace(lines[4], `"`, `'`, 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh, err := runs.OpenStore(w.state, runs.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	st, err := w.as(func(o *Options) { o.Store = fresh }).Status(t.Context(), id, "")
	if err != nil || st.Chain.Verified || st.Chain.FirstBad != 5 || st.Chain.Seq != 4 || len(st.Next.Tools) != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := w.as(func(o *Options) { o.Store = fresh }).Status(t.Context(), id, "x"); err != nil {
		t.Errorf("a local run is everybody's: %v", err)
	}
}

func TestAutopilotLiftsEachPauseByItself(t *testing.T) {
	for flags, state := range map[string]runs.State{
		`{}`:                           runs.StateValidating,
		`{"fix":true}`:                 runs.StateReadyForPR,
		`{"open_pr":true}`:             runs.StateValidating,
		`{"fix":true,"open_pr":true}`:  runs.StateDone,
		`{"fix":false,"open_pr":true}`: runs.StateValidating,
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, breakSite)
			w.in(w.start(`,"autopilot":`+flags), state)
		})
	}
}

// A fix that does not help is tried as often as the configuration says, and the run
// waits for a person.
func TestFixesOfOneIssueAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rebreaking)
	id := w.start(`,"max_fix_attempts":2,"autopilot":{"fix":true}`)
	v := w.in(id, runs.StateValidating)
	var did fixed
	if err := json.Unmarshal(v.Results["fix_next"].Data, &did); err != nil {
		t.Fatal(err)
	}
	if did.Failure == nil || did.Failure.Code != string(fault.FixExhausted) || did.Attempts[did.IssueID] != 2 || v.Paused == nil {
		t.Errorf("%+v", did)
	}
	if _, err := w.svc.FixNext(t.Context(), Ask{}, id); !fault.Is(err, fault.FixExhausted) {
		t.Errorf("asked once more: %v", err)
	}
}

// Lines that read alike follow each other to one place, and so have one issue's name.
func TestFixesThatHelpAreNotCountedAgainstTheNextLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(name string, do runs.Activity) runs.Activity {
		if name != "merge_and_link" {
			return do
		}
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			r, err := do(ctx, work, try)
			pages, globbed := filepath.Glob(filepath.Join(try.Dir, "work", "site", "content", "docs", "widget", "*.md"))
			if err != nil || globbed != nil || len(pages) == 0 {
				return r, fmt.Errorf("no pages: %w", err)
			}
			f, err := os.OpenFile(pages[0], os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return r, err
			}
			defer f.Close()
			_, err = f.WriteString(strings.Repeat("\nNobody says so.\n", 5))
			return r, err
		}
	})
	w.in(w.start(`,"max_fix_attempts":2,"autopilot":{"fix":true}`), runs.StateReadyForPR)
}

func TestAFailedRunGoesOnFromItsLastStableState(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	var drafts, merges atomic.Int64
	broken.Store(true)
	w := newWorld(t, func(name string, do runs.Activity) runs.Activity {
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			switch name {
			case "draft_section":
				drafts.Add(1)
			case "merge_and_link":
				merges.Add(1)
			}
			if name == "validate" && broken.Load() {
				return runs.Result{}, fault.New(fault.GateExecutionFailed, "no")
			}
			return do(ctx, work, try)
		}
	})
	id := w.start("")
	v := w.in(id, runs.StateFailed)
	st, err := w.svc.Status(t.Context(), id, "")
	if err != nil || !slices.Equal(st.Next.Tools, []string{"launch_resume"}) || !strings.Contains(st.Next.Reason, "no") || st.Failure.Code != v.Failure.Code {
		t.Errorf("%+v, %v", st.Next, err)
	}
	if _, err := w.svc.Validate(t.Context(), Ask{}, id); !fault.Is(err, fault.IllegalState) {
		t.Errorf("validate of a run that failed: %v", err)
	}
	broken.Store(false)
	was, merged := drafts.Load(), merges.Load()
	if state, err := w.svc.Resume(t.Context(), Ask{}, id, ""); err != nil || state == runs.StateFailed {
		t.Fatalf("%s, %v", state, err)
	}
	w.in(id, runs.StateReadyForPR)
	if drafts.Load() != was || merges.Load() != merged {
		t.Errorf("finished nodes were executed again: %d drafts, %d merges", drafts.Load()-was, merges.Load()-merged)
	}
	// force does a node again, and what comes after it.
	if _, err := w.svc.Resume(t.Context(), Ask{}, id, "draft_sections"); err != nil {
		t.Fatal(err)
	}
	w.in(id, runs.StateReadyForPR)
	if drafts.Load() != 2*was || merges.Load() != merged+1 {
		t.Errorf("forced: %d drafts, %d merges", drafts.Load(), merges.Load())
	}
	for _, node := range []string{"no_such_node", "open_pr"} {
		if _, err := w.svc.Resume(t.Context(), Ask{}, id, node); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("force %s: %v", node, err)
		}
	}
}

func TestVerbsNeedTheirState(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	at := make(chan struct{}, 1)
	w := newWorld(t, func(name string, do runs.Activity) runs.Activity {
		if name != "ingest_repo" {
			return do
		}
		return func(ctx context.Context, work runs.Work, try runs.Try) (runs.Result, error) {
			at <- struct{}{}
			select {
			case <-hold:
			case <-ctx.Done():
				return runs.Result{}, ctx.Err()
			}
			return do(ctx, work, try)
		}
	})
	id := w.start("")
	<-at
	for name, c := range map[string]struct {
		do   func() error
		code fault.Code
	}{
		"validate": {func() error { _, err := w.svc.Validate(t.Context(), Ask{}, id); return err }, fault.IllegalState},
		"fix":      {func() error { _, err := w.svc.FixNext(t.Context(), Ask{}, id); return err }, fault.IllegalState},
		"open_pr":  {func() error { _, err := w.svc.OpenPR(t.Context(), Ask{}, id, false); return err }, fault.IllegalState},
		"resume":   {func() error { _, err := w.svc.Resume(t.Context(), Ask{}, id, ""); return err }, fault.RunLocked},
	} {
		err := c.do()
		if codeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if c.code == fault.IllegalState && !strings.Contains(err.Error(), "CLONED_INPUTS") {
			t.Errorf("%s does not say the state: %v", name, err)
		}
	}
	if state, err := w.svc.Cancel(t.Context(), Ask{}, id); err != nil || state != runs.StateCancelled {
		t.Errorf("cancel: %s, %v", state, err)
	}
	if state, err := w.svc.Cancel(t.Context(), Ask{}, id); err != nil || state != runs.StateCancelled {
		t.Errorf("a second cancel: %s, %v", state, err)
	}
	if _, err := w.svc.Resume(t.Context(), Ask{}, id, ""); !fault.Is(err, fault.IllegalState) {
		t.Errorf("resume of a cancelled run: %v", err)
	}
	close(hold)
}

func TestValidateNeedsTheSitesWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.start("")
	w.in(id, runs.StateReadyForPR)
	if err := os.RemoveAll(w.site(id)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.svc.Validate(t.Context(), Ask{}, id); !fault.Is(err, fault.IllegalState) || !strings.Contains(fmt.Sprint(err), "work tree") {
		t.Errorf("got %v", err)
	}
	w.in(id, runs.StateReadyForPR)
}
