package runstest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
)

func testDeathOfAll(t *testing.T, _ Options) {
	l := newLab(t)
	script := Script{Items: three, WorkUS: 2000, Outcomes: map[string]string{"validate.1": "failed"}}
	reference := l.host(hostConfig{})
	want := endingOf(l.over(l.started(reference, Request(script, "publish", "fix"))))
	reference.close()

	// One run is interrupted at each of its items.
	hosts := []*remote{l.host(hostConfig{}), l.host(hostConfig{})}
	var ids []runs.ID
	for i, stop := range []string{"clone.1", "plan.1", "draft.1.blog", "validate.1", "fix.1", "publish.1"} {
		s := script
		s.Ruin = map[string]string{stop: Hang}
		id := l.started(hosts[i%2], Request(s, "publish", "fix"))
		ids = append(ids, id)
		l.executing(id, stop)
	}
	for _, h := range hosts {
		h.kill()
	}
	next := l.host(hostConfig{AdoptMS: 20})
	for i, stop := range []string{"clone.1", "plan.1", "draft.1.blog", "validate.1", "fix.1", "publish.1"} {
		l.until(ids[i], "is taken at "+stop, func(v *runs.View) bool { return status(v, stop) == runs.Running && attempt(v, stop) == 2 })
		l.mend(ids[i])
	}
	for _, id := range ids {
		if diff := cmp.Diff(want, endingOf(l.over(id))); diff != "" {
			t.Error(diff)
		}
	}
	next.close()
	l.sound(ids...)
}

// damaged is the journal of a run that was changed by somebody, at an event.
func (l *lab) damaged(id runs.ID, seq int64) (path string, content []byte) {
	l.t.Helper()
	path = filepath.Join(l.store.Dir(id), "events.ndjson")
	raw, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines[seq-1] = bytes.Replace(lines[seq-1], []byte(`"payload":{`), []byte(`"payload":{ `), 1)
	content = bytes.Join(lines, nil)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path, content
}

func testDamage(t *testing.T, _ Options) {
	l := newLab(t)
	a := l.host(hostConfig{})
	hang := Script{Items: three, Ruin: map[string]string{"plan.1": Hang}}
	id, unpaused := l.started(a, Request(Script{Items: three})), l.started(a, Request(hang))
	l.until(id, "is paused", paused)
	l.executing(unpaused, "plan.1")
	a.kill()

	b := l.host(hostConfig{AdoptMS: 20})
	for _, run := range []runs.ID{id, unpaused} {
		path, content := l.damaged(run, 4)
		_, err := b.command(run, runs.Command{Type: runs.Resume})
		var where struct{ Seq int64 }
		f := fault.From(err)
		if details, ok := f.Details.(json.RawMessage); ok {
			json.Unmarshal(details, &where)
		}
		if f == nil || f.Code != fault.EventChainBroken || where.Seq != 4 {
			t.Errorf("a command for a damaged run: %v", err)
		}
		if r, err := b.lab.store.Verify(t.Context(), run); err != nil || r.OK || r.FirstBad != 4 {
			t.Errorf("verify: %+v, %v", r, err)
		}
		// Another run that needs to be taken is taken, so this one has been looked at.
		probe := l.started(b, Request(Script{Items: three}, "publish"))
		l.over(probe)
		if now, _ := os.ReadFile(path); !bytes.Equal(now, content) {
			t.Error("the damaged journal was written to")
		}
	}
	b.close()
}

func testTornTail(t *testing.T, _ Options) {
	l := newLab(t)
	a := l.host(hostConfig{})
	id := l.started(a, Request(Script{Items: three, Ruin: map[string]string{"facts.1": Hang}}, "publish"))
	l.executing(id, "facts.1")
	a.kill()
	before := l.events(id)
	path := filepath.Join(l.store.Dir(id), "events.ndjson")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	torn := `{"seq":99,"event_id":"evt-2026`
	if _, err := f.WriteString(torn); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l.host(hostConfig{AdoptMS: 20})
	l.mend(id)
	if v := l.over(id); v.State != runs.StateDone {
		t.Errorf("the run is %s", describe(v))
	}
	after := l.events(id)
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
		t.Error(diff)
	}
	repaired := payloads[runs.Repaired](l, id, runs.JournalRepaired)
	if len(repaired) != 1 || repaired[0].CutBytes != int64(len(torn)) || repaired[0].AfterSeq != int64(len(before)) {
		t.Errorf("repairs %+v", repaired)
	}
	l.sound(id)
}
