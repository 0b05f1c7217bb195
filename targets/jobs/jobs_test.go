package jobs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/targets"
)

func TestAQuickTargetIsAnsweredForWithItsOutputAndItsCode(t *testing.T) {
	p := newLab(t).open(nil)
	for _, test := range []struct {
		name, output string
		code         int
	}{{"hello", "hello\n", 0}, {"code", "failing\n", 7}} {
		s := p.start(test.name, patience, nil)
		if s.State != Exited || s.ExitCode == nil || *s.ExitCode != test.code || s.Output != test.output || s.Truncated || s.Error != "" {
			t.Errorf("%s: %+v", test.name, s)
		}
		types, last := p.events(s.ID)
		want := []runs.EventType{
			runs.RunCreated, runs.NodeEntered, runs.RunStateChanged, runs.WorkItemStarted, runs.ProcessStarted, runs.ProcessEnded, runs.WorkItemFinished,
			runs.RunCompleted, runs.RunStateChanged,
		}
		if !slices.Equal(types, want) {
			t.Errorf("%s: events %v", test.name, types)
		}
		if last.State != "exited" || last.PID != s.PID || last.Key != string(s.ID) || last.ExitCode == nil || *last.ExitCode != test.code {
			t.Errorf("%s: the journal says %+v", test.name, last)
		}
	}
}

func TestALongTargetIsLeftRunningUnderItsOwnPID(t *testing.T) {
	p := newLab(t).open(nil)
	var told []string
	s := p.start("gated", 700*time.Millisecond, func(r *Request) { r.Progress = func(lines string) { told = append(told, lines) } })
	if s.State != Running || s.Output != "before\n" || s.ExitCode != nil {
		t.Fatalf("%+v", s)
	}
	if name, err := os.ReadFile("/proc/" + itoa(s.PID) + "/cmdline"); err == nil && !strings.Contains(string(name), "gated.sh") {
		t.Errorf("pid %d is %q", s.PID, name)
	}
	if !slices.Equal(told, []string{"before\n"}) {
		t.Errorf("told %q", told)
	}
	jobs, err := p.Jobs(t.Context(), "")
	if err != nil || len(jobs) != 1 || jobs[0].PID != s.PID || jobs[0].State != Running {
		t.Fatalf("%+v %v", jobs, err)
	}
	p.l.openGate("all")
	j, v := p.over(s.ID)
	if j.State != Exited || *j.ExitCode != 3 || v.State != runs.StateExited {
		t.Errorf("%+v %s", j, v.State)
	}
	out, err := p.Output(t.Context(), "", s.PID, OutputRequest{})
	if err != nil || !slices.Equal(out.Lines, []string{"before", "after all"}) || out.TotalLines != 2 || out.TotalBytes != 17 || out.Truncated || out.Full {
		t.Errorf("%+v %v", out, err)
	}
}

func TestASignalIsAFailureThatSaysWhich(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("dies", patience, nil)
	if s.State != Failed || s.Signal != "SIGKILL" || s.ExitCode != nil || !strings.Contains(s.Error, "SIGKILL") {
		t.Errorf("%+v", s)
	}
	v, err := p.store.View(s.ID)
	if err != nil || v.State != runs.StateFailed || v.Failure == nil || v.Failure.Code != string(fault.ProcessFailed) {
		t.Errorf("%v %+v", err, v)
	}
	if types, last := p.events(s.ID); !has(types, runs.RunFailed, runs.ProcessEnded) || last.Signal != "SIGKILL" || last.State != "failed" {
		t.Errorf("%v %+v", types, last)
	}
}

func TestAProgramThatCannotBeStartedIsSaidSoAndRecorded(t *testing.T) {
	l := newLab(t)
	l.script("broken", "#!/no/such/interpreter\n")
	p := l.open(nil)
	_, err := p.Start(t.Context(), Ask{}, Request{Request: targets.Request{Name: "broken"}, Wait: 0})
	f := refused(t, err, fault.SpawnFailed)
	if !strings.HasPrefix(f.Message, "Failed to start process: ") || f.Hint != "Check if the command and arguments are valid" || strings.Contains(f.Message, l.root) {
		t.Errorf("%q %q", f.Message, f.Hint)
	}
	jobs, err := p.Jobs(t.Context(), "")
	if err != nil || len(jobs) != 1 || jobs[0].State != Failed || jobs[0].PID != 0 || jobs[0].Error == "" {
		t.Errorf("%+v %v", jobs, err)
	}
}

func TestTheEnvironmentOfACallerIsNeverWrittenToDisk(t *testing.T) {
	p := newLab(t).open(nil)
	const secret = "correct-horse-battery"
	s := p.start("show_env", patience, func(r *Request) { r.Env = map[string]string{"TOKEN": secret} })
	if s.Output != "["+secret+"]\n" {
		t.Fatalf("%+v", s)
	}
	err := filepath.WalkDir(p.l.state, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.Contains(path, "/output") || strings.Contains(path, "/spool") {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), secret) {
			t.Errorf("%s holds the secret", path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file that has its name by now
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAProcessIsPartOfTheTraceOfItsRun(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("show_trace", patience, nil)
	if want := "[00-" + s.ID.TraceID() + "-" + s.ID.SpanID("") + "-01][]"; !strings.Contains(s.Output, want) {
		t.Errorf("%q, want %q", s.Output, want)
	}
}

func TestNoMoreJobsRunAtOnceThanMay(t *testing.T) {
	p := newLab(t).open(func(o *Options) { o.MaxJobs = 3 })
	results := make(chan error, 8)
	for range cap(results) {
		go func() {
			_, err := p.Start(t.Context(), Ask{}, Request{Request: targets.Request{Name: "forever"}})
			results <- err
		}()
	}
	refusals := 0
	for range cap(results) {
		if err := <-results; err != nil {
			if f := refused(t, err, fault.TooManyJobs); !f.Retryable {
				t.Error("it is not retryable")
			}
			refusals++
		}
	}
	if refusals != 5 {
		t.Errorf("%d of 8 were refused", refusals)
	}
	jobs, err := p.Jobs(t.Context(), "")
	if err != nil || len(jobs) != 3 {
		t.Fatalf("%v %v", jobs, err)
	}
	if _, err := p.Stop(t.Context(), Ask{}, jobs[0].PID, time.Second); err != nil {
		t.Fatal(err)
	}
	p.start("forever", 0, nil) // there is room again
}

// A call that is made again is answered, also when there is no room for another job.
func TestARepeatedStartNeedsNoRoom(t *testing.T) {
	p := newLab(t).open(func(o *Options) { o.MaxJobs = 1 })
	ask, r := Ask{Once: &runs.Once{Key: "k", Hash: "1"}}, Request{Request: targets.Request{Name: "forever"}}
	first, err := p.Start(t.Context(), ask, r)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.Start(t.Context(), ask, r); err != nil || again.ID != first.ID {
		t.Errorf("%+v, %v", again, err)
	}
	refused(t, second(p.Start(t.Context(), Ask{}, r)), fault.TooManyJobs)
}

func TestAStopSaysHowItWent(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("forever", 0, nil)
	stopped, err := p.Stop(t.Context(), Ask{}, s.PID, 5*time.Second)
	if err != nil || stopped.Status != "graceful" || stopped.Message != "Process stopped gracefully with signal SIGTERM" || stopped.PID != s.PID {
		t.Errorf("%+v %v", stopped, err)
	}
	if j, _ := p.over(s.ID); j.State != Failed || j.Signal != "SIGTERM" || !strings.Contains(j.Error, "stopped on request") {
		t.Errorf("%+v", j)
	}
	f := refused(t, second(p.Stop(t.Context(), Ask{}, s.PID, time.Second)), fault.IllegalState)
	if !strings.Contains(f.Message, "not running") {
		t.Error(f)
	}
	refused(t, second(p.Stop(t.Context(), Ask{}, 1, time.Second)), fault.JobNotFound)

	s = p.start("deaf", 0, nil)
	eventually(t, "it ignores TERM", func() bool {
		out, err := p.Output(t.Context(), "", s.PID, OutputRequest{})
		return err == nil && slices.Contains(out.Lines, "deaf")
	})
	stopped, err = p.Stop(t.Context(), Ask{}, s.PID, 100*time.Millisecond)
	if err != nil || stopped.Status != "killed" || !strings.Contains(stopped.Message, "100ms") {
		t.Errorf("%+v %v", stopped, err)
	}
	s = p.start("hello", patience, nil)
	refused(t, second(p.Stop(t.Context(), Ask{}, s.PID, time.Second)), fault.IllegalState)
}

func TestAStopWithItsKeyTellsTheSameAgain(t *testing.T) {
	p := newLab(t).open(nil)
	s, other := p.start("forever", 0, nil), p.start("forever", 0, nil)
	ask := Ask{Once: &runs.Once{Key: "k", Hash: "1"}}
	first, err := p.Stop(t.Context(), ask, s.PID, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Stop(t.Context(), ask, s.PID, time.Second)
	if err != nil || again != first {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	refused(t, second(p.Stop(t.Context(), Ask{Once: &runs.Once{Key: "k", Hash: "2"}}, other.PID, time.Second)), fault.IdempotencyConflict)
}

func TestAStartWithItsKeyStartsOnce(t *testing.T) {
	p := newLab(t).open(nil)
	ask := Ask{Once: &runs.Once{Key: "k", Hash: "1"}}
	r := Request{Request: targets.Request{Name: "forever"}}
	first, err := p.Start(t.Context(), ask, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Start(t.Context(), ask, r)
	if err != nil || again.PID != first.PID || again.ID != first.ID {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	_, err = p.Start(t.Context(), Ask{Once: &runs.Once{Key: "k", Hash: "2"}}, r)
	refused(t, err, fault.IdempotencyConflict)
	if jobs, err := p.Jobs(t.Context(), ""); err != nil || len(jobs) != 1 {
		t.Errorf("%v %v", jobs, err)
	}
}

func TestAJobOfAnotherOwnerOrAnotherRootDoesNotExist(t *testing.T) {
	l := newLab(t)
	p := l.open(nil)
	mine, err := p.Start(t.Context(), Ask{Owner: "alice"}, Request{Request: targets.Request{Name: "forever"}})
	if err != nil {
		t.Fatal(err)
	}
	ended, err := p.Start(t.Context(), Ask{Owner: "alice"}, Request{Request: targets.Request{Name: "hello"}, Wait: patience})
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{mine.PID, ended.PID} {
		refused(t, second(p.Find(t.Context(), "bob", pid)), fault.JobNotFound)
		refused(t, second(p.Stop(t.Context(), Ask{Owner: "bob"}, pid, 0)), fault.JobNotFound)
		if _, err := p.Find(t.Context(), "alice", pid); err != nil {
			t.Error(err)
		}
	}
	if jobs, _ := p.Jobs(t.Context(), "bob"); len(jobs) != 0 {
		t.Errorf("bob sees %v", jobs)
	}
	elsewhere := l.open(func(o *Options) { o.Root = t.TempDir() })
	refused(t, second(elsewhere.Find(t.Context(), "alice", mine.PID)), fault.JobNotFound)
	if jobs, _ := elsewhere.Jobs(t.Context(), "alice"); len(jobs) != 0 {
		t.Errorf("another root sees %v", jobs)
	}
	all := l.open(func(o *Options) { o.Root, o.AllRoots = t.TempDir(), true })
	if jobs, _ := all.Jobs(t.Context(), "alice"); len(jobs) != 2 {
		t.Errorf("all roots show %v", jobs)
	}
}

func TestRunningJobsAreListedFirstAndEndedOnesForAnHour(t *testing.T) {
	now := time.Now()
	p := newLab(t).open(func(o *Options) { o.Now = func() time.Time { return now } })
	first := p.start("forever", 0, nil)
	ended := p.start("hello", patience, nil)
	later := p.start("code", patience, nil)
	last := p.start("forever", 0, nil)
	jobs, err := p.Jobs(t.Context(), "")
	if want := []int{last.PID, first.PID, later.PID, ended.PID}; err != nil || !slices.Equal(pids(jobs), want) {
		t.Errorf("got %v, want %v: %v", pids(jobs), want, err)
	}
	named, err := p.Named(t.Context(), "", "forever")
	if want := []int{last.PID, first.PID}; err != nil || !slices.Equal(pids(named), want) {
		t.Errorf("got %v, want %v: %v", pids(named), want, err)
	}
	if none, err := p.Named(t.Context(), "", "gated"); err != nil || len(none) != 0 {
		t.Errorf("%v %v", none, err)
	}
	refused(t, second(p.Named(t.Context(), "", "nonsense")), fault.TaskNotFound)
	now = now.Add(Recent + time.Minute)
	if jobs, err = p.Jobs(t.Context(), ""); err != nil || !slices.Equal(pids(jobs), []int{last.PID, first.PID}) {
		t.Errorf("an hour later %v: %v", pids(jobs), err)
	}
	if j, err := p.Find(t.Context(), "", later.PID); err != nil || *j.ExitCode != 7 {
		t.Errorf("its output is kept, and yet %+v %v", j, err)
	}
}

func TestOldOutputIsRemovedButNotWhatNobodyHasRecorded(t *testing.T) {
	l := newLab(t)
	p := l.open(func(o *Options) { o.Keep = 2 })
	var ids []runs.ID
	for range 4 {
		ids = append(ids, p.start("hello", patience, nil).ID)
	}
	turn := string(ids[0]) + ".1" // of a session: not for the jobs to remove
	if _, err := p.sup.Ensure(t.Context(), turn, proc.ProcSpec{Name: "true", Env: l.env}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the turn ends", func() bool { st, err := p.sup.Status(turn); return err == nil && st.State == proc.Exited })
	for range 3 {
		ids = append(ids, p.start("hello", patience, nil).ID)
	}
	if err := p.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.sup.Status(turn); err != nil {
		t.Errorf("the output of a turn is gone: %v", err)
	}
	var kept []runs.ID
	for _, id := range ids {
		if _, err := p.sup.Status(string(id)); err == nil {
			kept = append(kept, id)
		}
	}
	if !slices.Equal(kept, ids[len(ids)-2:]) {
		t.Errorf("kept %v of %v", kept, ids)
	}

	s := p.start("gated", 0, func(r *Request) { r.Keep = true })
	p.die()
	l.openGate("x")
	q := l.open(func(o *Options) { o.Keep = 1 })
	eventually(t, "it ends", func() bool { st, err := q.sup.Status(string(s.ID)); return err == nil && st.State == proc.Exited })
	if err := q.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.sup.Status(string(ids[len(ids)-2])); err != nil {
		t.Errorf("something was removed while an end is not recorded: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }
