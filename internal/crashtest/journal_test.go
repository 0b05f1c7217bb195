package crashtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paused makes a run that waits for its pull request, with nobody there any more, and
// returns it with the path of its journal.
func (l *lab) paused() (id, journal string) {
	l.t.Helper()
	before := l.runs()
	l.must("launch", "product", "--no-pr")
	id = fresh(l.t, before, l.runs())
	return id, filepath.Join(l.folder(id), "events.ndjson")
}

func TestAnUnfinishedLastLineIsCutAndTold(t *testing.T) {
	l := newLab(t)
	l.goRepo("product")
	id, journal := l.paused()
	whole := read(t, journal)
	f, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:]
	f.Write(last[:len(last)/2])
	f.Close()
	if out := l.must("runs", "verify", id); !strings.Contains(out, "will be cut") {
		t.Errorf("verify says %q", out)
	}
	l.must("call", "launch_open_pr", "run_id="+id)
	eventually(t, "the run is done", func() bool { return strings.Contains(l.must("runs", "show", id), "DONE") })
	if !bytes.HasPrefix(read(t, journal), whole) {
		t.Error("more was cut than the unfinished line")
	}
	if !slices.ContainsFunc(l.events(id), func(e event) bool { return e.Type == "JOURNAL_REPAIRED" }) {
		t.Error("the repair is not in the journal")
	}
	l.must("runs", "verify", id)
}

func TestADamagedJournalIsNamedAndLeftAlone(t *testing.T) {
	l := newLab(t)
	l.goRepo("product")
	for name, harm := range map[string]func(whole []byte) (damaged []byte, badSeq int64){
		"a byte in the middle": func(whole []byte) ([]byte, int64) {
			at := bytes.Index(whole, []byte(`"seq":20,`)) + 60
			whole[at] ^= 1
			return whole, 20
		},
		"a line in the middle is gone": func(whole []byte) ([]byte, int64) {
			lines := bytes.SplitAfter(whole, []byte("\n"))
			return bytes.Join(slices.Delete(lines, 9, 10), nil), 10
		},
		"the last lines are gone": func(whole []byte) ([]byte, int64) {
			lines := bytes.SplitAfter(whole, []byte("\n"))
			return bytes.Join(lines[:len(lines)-4], nil), int64(len(lines) - 4 + 1)
		},
		"half of the last line is gone": func(whole []byte) ([]byte, int64) {
			return whole[:len(whole)-30], int64(bytes.Count(whole, []byte("\n")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := *l
			l.t = t
			id, journal := l.paused()
			damaged, bad := harm(read(t, journal))
			if err := os.WriteFile(journal, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s := l.serve()
			defer s.leave()
			var st status
			if err := s.call("launch_get_status", args{"run_id": id}, &st); err != nil || st.Chain.Verified || st.Chain.BadSeq != bad {
				t.Errorf("status: %v, chain %+v, not broken at %d", err, st.Chain, bad)
			}
			for _, tool := range []string{"launch_validate", "launch_open_pr", "launch_resume", "launch_cancel", "launch_fix_next"} {
				if err := s.call(tool, args{"run_id": id}, nil); code(err) != "EVENT_CHAIN_BROKEN" {
					t.Errorf("%s: %v", tool, err)
				}
			}
			if _, errs, err := l.run("runs", "verify", id); err == nil || !strings.Contains(errs, "EVENT_CHAIN_BROKEN") {
				t.Errorf("verify: %v %s", err, errs)
			}
			if err := s.call("launch_list_runs", args{}, nil); err != nil {
				t.Errorf("the others cannot be listed: %v", err)
			}
			if !bytes.Equal(read(t, journal), damaged) {
				t.Error("the damaged journal was touched")
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
