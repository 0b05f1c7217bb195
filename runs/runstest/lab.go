package runstest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// lab is the place of one check: a state directory and what is known about it.
type lab struct {
	t      *testing.T
	state  string
	log    string
	stderr string
	store  *runs.Store // of the suite's own process, which executes nothing
}

func newLab(t *testing.T) *lab {
	t.Helper()
	dir := t.TempDir()
	l := &lab{t: t, state: filepath.Join(dir, "state"), log: filepath.Join(dir, "executions"), stderr: filepath.Join(dir, "stderr")}
	store, err := runs.OpenStore(l.state, runs.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l.store = store
	t.Cleanup(func() { store.Close(); l.races() })
	return l
}

// until returns the first view of the run that is enough.
func (l *lab) until(id runs.ID, what string, enough func(*runs.View) bool) *runs.View {
	l.t.Helper()
	ctx, cancel := contextFor(l.t, 2*time.Minute)
	defer cancel()
	v, err := l.store.Until(ctx, id, enough)
	if err != nil {
		now, _ := l.store.View(id)
		l.t.Fatalf("waiting until run %s %s: %v; it is %s", id, what, err, describe(now))
	}
	return v
}

func describe(v *runs.View) string {
	if v == nil {
		return "unreadable"
	}
	return fmt.Sprintf("%s at %s, paused %v, seq %d", v.State, v.Node, v.Paused != nil, v.Seq)
}

// over waits until a run has ended, in whatever way.
func (l *lab) over(id runs.ID) *runs.View {
	l.t.Helper()
	return l.until(id, "is over", func(v *runs.View) bool { return v.State.Terminal() })
}

// executing waits until an item of the run is being executed.
func (l *lab) executing(id runs.ID, item string) {
	l.t.Helper()
	l.until(id, "executes "+item, func(v *runs.View) bool { return status(v, item) == runs.Running })
}

func status(v *runs.View, item string) string {
	for _, w := range v.WorkItems {
		if strings.TrimPrefix(w.ID, string(v.RunID)+"/") == item {
			return w.Status
		}
	}
	return ""
}

// started starts a run that must be new.
func (l *lab) started(h *remote, r runs.StartRequest) runs.ID {
	l.t.Helper()
	id, created, err := h.start(r)
	if err != nil || !created {
		l.t.Fatalf("start: %s, created %v, %v", id, created, err)
	}
	return id
}

// told sends a command and returns its receipt.
func (l *lab) told(h *remote, id runs.ID, c runs.Command) runs.Receipt {
	l.t.Helper()
	command, err := h.command(id, c)
	if err != nil {
		l.t.Fatalf("command %s: %v", c.Type, err)
	}
	r, err := h.await(id, command)
	if err != nil {
		l.t.Fatalf("await %s: %v", c.Type, err)
	}
	return r
}

func (l *lab) events(id runs.ID) []runs.Event {
	l.t.Helper()
	var out []runs.Event
	for e, err := range l.store.Events(id, 0) {
		if err != nil {
			l.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// payloads returns the payloads of a run's events of one type.
func payloads[P any](l *lab, id runs.ID, t runs.EventType) []P {
	l.t.Helper()
	var out []P
	for _, e := range l.events(id) {
		if e.Type != t {
			continue
		}
		var p P
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			l.t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// sound checks what must be true of every run at any time.
func (l *lab) sound(ids ...runs.ID) {
	l.t.Helper()
	log := readLog(l.t, l.log)
	for _, bad := range executors(log) {
		l.t.Error(bad)
	}
	for _, id := range ids {
		report, err := l.store.Verify(l.t.Context(), id)
		if err != nil || !report.OK {
			l.t.Errorf("run %s: %+v, %v", id, report, err)
		}
		for _, bad := range repeats(log, l.events(id)) {
			l.t.Error(bad)
		}
	}
}

// mend lets what hangs or fails for good succeed from now on.
func (l *lab) mend(id runs.ID) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.store.Dir(id), "work", "mended"), nil, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// ending is what a run comes to, whatever happened on the way and whatever its id is.
type ending struct {
	State     runs.State
	Items     []string
	Results   map[string]string
	Sections  map[string]string
	Artifacts map[string]string
}

func endingOf(v *runs.View) ending {
	e := ending{State: v.State, Results: map[string]string{}, Sections: v.SectionStates, Artifacts: map[string]string{}}
	for _, w := range v.WorkItems {
		e.Items = append(e.Items, fmt.Sprintf("%s %s %s", strings.TrimPrefix(w.ID, string(v.RunID)), w.Status, w.Outcome))
	}
	for node, r := range v.Results {
		e.Results[node] = fmt.Sprintf("%s %d %s", r.Outcome, r.Visit, r.Data)
	}
	for name, a := range v.Artifacts {
		e.Artifacts[name] = a.SHA256
	}
	return e
}
