package jobs

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/targets"
)

// adopt makes the program take the runs that nobody drives.
func (p *program) adopt() {
	p.l.t.Helper()
	if _, err := p.eng.AdoptNow(p.l.t.Context()); err != nil {
		p.l.t.Fatal(err)
	}
}

func TestAJobThatIsKeptIsAdoptedByTheNextProgram(t *testing.T) {
	l := newLab(t)
	p := l.open(nil)
	s := p.start("gated", 0, func(r *Request) { r.Keep = true })
	p.die()

	q := l.open(nil)
	q.adopt()
	eventually(t, "it is adopted", func() bool { types, _ := q.events(s.ID); return has(types, runs.ProcessAdopted) })
	jobs, err := q.Jobs(t.Context(), "")
	if err != nil || len(jobs) != 1 || jobs[0].PID != s.PID || jobs[0].State != Running || !jobs[0].Keep {
		t.Fatalf("%+v %v", jobs, err)
	}
	l.openGate("on")
	j, _ := q.over(s.ID)
	if j.State != Exited || *j.ExitCode != 3 || j.PID != s.PID {
		t.Errorf("%+v", j)
	}
	out, err := q.Output(t.Context(), "", s.PID, OutputRequest{})
	if err != nil || !slices.Equal(out.Lines, []string{"before", "after on"}) {
		t.Errorf("%q %v", out.Lines, err)
	}
}

func TestAJobThatEndsWhileNoProgramRunsIsToldOfRightAndThenRecorded(t *testing.T) {
	l := newLab(t)
	p := l.open(nil)
	s := p.start("gated", 0, func(r *Request) { r.Keep = true })
	p.die()
	l.openGate("on")

	q := l.open(nil)
	eventually(t, "it is told of as ended, before anybody drives it", func() bool {
		jobs, err := q.Jobs(t.Context(), "")
		return err == nil && len(jobs) == 1 && jobs[0].State == Exited && *jobs[0].ExitCode == 3
	})
	q.adopt()
	if j, v := q.over(s.ID); j.State != Exited || *j.ExitCode != 3 || v.State != runs.StateExited {
		t.Errorf("%+v %s", j, v.State)
	}
}

func TestAJobThatIsNotKeptEndsWithItsProgramAndThatIsRecorded(t *testing.T) {
	l := newLab(t)
	p := l.open(nil)
	ends, deaf, stays := p.start("forever", 0, nil), p.start("deaf", 0, nil), p.start("forever", 0, func(r *Request) { r.Keep = true })
	began := time.Now()
	goOn, err := p.Close(p.eng.Driven)
	if err != nil || !slices.Equal(goOn, []runs.ID{stays.ID}) {
		t.Errorf("%v goes on, want %s: %v", goOn, stays.ID, err)
	}
	if took := time.Since(began); took > closeTime {
		t.Errorf("it took %s", took)
	}
	for _, s := range []Started{ends, deaf} {
		if v, err := p.store.View(s.ID); err != nil || v.State != runs.StateFailed || !dead(s.PID) {
			t.Errorf("%s: %s, %v", s.UniqueName, v.State, err)
		}
	}
	if j, _ := p.over(ends.ID); j.Signal != "SIGTERM" {
		t.Errorf("%+v", j)
	}
	if dead(stays.PID) {
		t.Error("the one that is kept ended")
	}
	if _, err := p.Stop(t.Context(), Ask{}, stays.PID, time.Second); err != nil {
		t.Error(err)
	}
}

func TestAProcessThatNeverCameUpIsSaidSo(t *testing.T) {
	l := newLab(t)
	long := time.Now().Add(-time.Minute)
	store, err := runs.OpenStore(l.state, runs.StoreOptions{Now: func() time.Time { return long }})
	if err != nil {
		t.Fatal(err)
	}
	flow, err := workflow()
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := store.Create(t.Context(), runs.StartRequest{Kind: runs.Target, Workflow: flow, Input: []byte(`{"unique_name":"hello"}`)})
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	p := l.open(func(o *Options) { o.AllRoots = true })
	p.adopt()
	j, v := p.over(id)
	if j.State != Failed || j.PID != 0 || v.Failure.Code != string(fault.SpawnFailed) {
		t.Errorf("%+v %+v", j, v.Failure)
	}
}

// A driver of another program that is faster than the one that starts the job waits for
// the process to appear.
func TestADriverOfAnotherProgramWaitsForTheProcess(t *testing.T) {
	l := newLab(t)
	p := l.open(nil)
	q := l.open(nil)
	p.o.Engine = q.eng // the run is taken by the other's engine; the process is started here
	s := p.start("hello", patience, nil)
	if s.State != Exited || s.Output != "hello\n" {
		t.Errorf("%+v", s)
	}
	if types, _ := p.events(s.ID); !has(types, runs.ProcessAdopted) {
		t.Errorf("%v", types)
	}
}

func TestCancellingARunEndsItsProcess(t *testing.T) {
	p := newLab(t).open(nil)
	s := p.start("forever", 0, nil)
	if _, err := p.eng.Command(t.Context(), s.ID, runs.Command{Type: runs.Cancel}); err != nil {
		t.Fatal(err)
	}
	if j, v := p.over(s.ID); v.State != runs.StateCancelled || j.State != Failed {
		t.Errorf("%+v %s", j, v.State)
	}
	eventually(t, "the process ends", func() bool { return dead(s.PID) })
}

func TestAContextThatEndsLeavesTheJobAlone(t *testing.T) {
	p := newLab(t).open(nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := p.Start(ctx, Ask{}, Request{
		Request: targets.Request{Name: "forever"}, Wait: patience, Progress: func(string) { cancel() },
	})
	refused(t, fault.From(err), fault.Cancelled)
	if jobs, err := p.Jobs(t.Context(), ""); err != nil || len(jobs) != 1 || jobs[0].State != Running {
		t.Errorf("%v %v", jobs, err)
	}
}

// A client that goes away between the record and the process leaves no job without one.
func TestAStartIsNotLeftHalfDone(t *testing.T) {
	p := newLab(t).open(nil)
	inv, err := p.o.Project.Decide(t.Context(), targets.Request{Name: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	id, _, _, err := p.create(t.Context(), Ask{}, inv, false)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	p.spawn(gone, id, proc.ProcSpec{Name: inv.Program, Args: inv.Argv[1:], Dir: inv.Dir, Env: inv.Env})
	if j, _ := p.over(id); j.State != Exited {
		t.Errorf("%+v", j)
	}
}

func TestAJobWithoutItsProcessHasNotBegun(t *testing.T) {
	for _, test := range []struct {
		view runs.View
		want bool
	}{
		{runs.View{State: runs.StateRunning}, false},
		{runs.View{State: runs.StateRunning, Process: &runs.Process{State: runs.Failed}}, false}, // it is about to fail
		{runs.View{State: runs.StateRunning, Process: &runs.Process{PID: 7}}, true},
		{runs.View{State: runs.StateFailed, Process: &runs.Process{State: runs.Failed}}, true},
	} {
		if got := begun(&test.view); got != test.want {
			t.Errorf("%s %+v: %v", test.view.State, test.view.Process, got)
		}
	}
}

func TestALostProcessIsAFailure(t *testing.T) {
	try := runs.Try{Tell: func(runs.Draft) {}}
	_, err := end(proc.Status{State: proc.Lost, Exit: -1, Reason: "the machine restarted while it ran"}, 0, try)
	if f := refused(t, err, fault.ProcessFailed); f.Message != "the task was lost: the machine restarted while it ran" {
		t.Error(f)
	}
}
