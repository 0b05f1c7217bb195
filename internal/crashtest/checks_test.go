package crashtest

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checkAll holds everything that is left against what was acknowledged.
func (s *storm) checkAll() {
	s.t.Helper()
	eventually(s.t, "no process is left", func() bool { return len(s.processes("")) == 0 })
	last := s.serve()
	defer last.leave()
	pushed := 0
	for _, id := range s.runs() {
		s.checkJournal(id)
		var st status
		if err := last.call("get_run_status", args{"run_id": id}, &st); err != nil || !st.Chain.Verified {
			s.t.Errorf("status of %s: %v, chain verified: %v", id, err, st.Chain.Verified)
		}
		if st.State == "FAILED" {
			s.t.Errorf("run %s failed", id)
			continue
		}
		if st.State != "DONE" && st.State != "CANCELLED" {
			eventually(s.t, id+" comes to its end", func() bool {
				return last.call("get_run_status", args{"run_id": id}, &st) == nil && st.State == "DONE"
			})
		}
		if st.State == "DONE" && s.checkBranch(id) {
			pushed++
		}
	}
	s.checkStory(last)
	if n := len(strings.Fields(s.git(s.site, "for-each-ref", "--format=%(refname)", "refs/heads/launch"))); n != pushed {
		s.t.Errorf("the site's repository has %d branches of %d runs", n, pushed)
	}
	s.checkVerify()
	s.checkOneAtATime()
	s.checkLeftovers()
}

// checkStory holds what was acknowledged against what is so.
func (s *storm) checkStory(last *server) {
	for _, told := range s.story {
		var st status
		if err := last.call("get_run_status", args{"run_id": told.id}, &st); err != nil {
			s.t.Errorf("%s was acknowledged: %v", told.id, err)
		}
		if told.cancelled && st.State != "CANCELLED" {
			s.t.Errorf("the cancel of %s was acknowledged, and it is %s", told.id, st.State)
		}
		var pr opened
		if told.pr == nil {
			continue
		}
		if err := last.call("launch_open_pr", args{"run_id": told.id}, &pr); err != nil || pr != *told.pr {
			s.t.Errorf("the pull request of %s was %+v and is %+v (%v)", told.id, *told.pr, pr, err)
		}
	}
}

// event is what the checks read of an event.
type event struct {
	Seq     int64     `json:"seq"`
	Type    string    `json:"type"`
	TS      time.Time `json:"ts"`
	Payload struct {
		Item string `json:"work_item_id"`
	} `json:"payload"`
}

func (l *lab) events(id string) []event {
	l.t.Helper()
	f, err := os.Open(filepath.Join(l.folder(id), "events.ndjson"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	var out []event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			l.t.Errorf("%s: line %d is no event: %v", id, len(out)+1, err)
		}
		out = append(out, e)
	}
	return out
}

// checkJournal makes sure that no finished work was done again, and that what happens
// once happened once.
func (l *lab) checkJournal(id string) {
	l.t.Helper()
	finished, count := map[string]int64{}, map[string]int{}
	for _, e := range l.events(id) {
		count[e.Type]++
		at, over := finished[e.Payload.Item]
		switch {
		case e.Type == "WORK_ITEM_STARTED" && over:
			l.t.Errorf("%s finished at event %d and was started again at %d", e.Payload.Item, at, e.Seq)
		case e.Type == "WORK_ITEM_FINISHED" && over:
			l.t.Errorf("%s finished at event %d and again at %d", e.Payload.Item, at, e.Seq)
		case e.Type == "WORK_ITEM_FINISHED":
			finished[e.Payload.Item] = e.Seq
		case e.Type == "WORK_ITEM_FAILED":
			l.t.Errorf("%s failed", e.Payload.Item)
		}
	}
	for _, once := range []string{"RUN_CREATED", "INPUTS_CLONED", "COMMIT_CREATED", "PR_OPENED", "RUN_COMPLETED", "RUN_CANCELLED"} {
		if count[once] > 1 {
			l.t.Errorf("run %s has %d events %s", id, count[once], once)
		}
	}
}

// checkBranch makes sure that a finished run has made one branch of one commit, and
// reports whether it was pushed.
func (s *storm) checkBranch(id string) (pushed bool) {
	var pr struct {
		Base    string   `json:"base_ref"`
		Branch  string   `json:"branch_name"`
		Commits []string `json:"commit_shas"`
		Pushed  bool     `json:"pushed"`
	}
	raw, err := os.ReadFile(filepath.Join(s.folder(id), "artifacts", "pr.json"))
	if err == nil {
		err = json.Unmarshal(raw, &pr)
	}
	if err != nil || len(pr.Commits) != 1 {
		s.t.Errorf("pr.json of %s: %v, %+v", id, err, pr)
		return false
	}
	places := []string{filepath.Join(s.folder(id), "work", "site")}
	if pr.Pushed {
		places = append(places, s.site)
	}
	for _, dir := range places {
		short := id[len(id)-8:]
		if got := s.git(dir, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/launch/*/*/"+short); got != pr.Branch+" "+pr.Commits[0] {
			s.t.Errorf("the branches of %s are %q, not %s", id, got, pr.Branch)
		}
		if n := s.git(dir, "rev-list", "--count", pr.Base+".."+pr.Commits[0]); n != "1" {
			s.t.Errorf("the branch of %s has %s commits", id, n)
		}
	}
	return pr.Pushed
}

func (s *storm) checkVerify() {
	for _, id := range s.runs() {
		if out, errs, err := s.run("runs", "verify", id); err != nil {
			s.t.Errorf("verify %s: %v\n%s%s", id, err, out, errs)
		}
	}
}

// checkLeftovers makes sure that what the killed have left behind half made goes
// away: as soon as it is old, and the next process starts.
func (l *lab) checkLeftovers() {
	l.t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	found := l.leftovers()
	for _, path := range found {
		os.Chtimes(path, old, old)
	}
	l.must("runs", "list")
	for _, path := range l.leftovers() {
		rel, _ := filepath.Rel(l.state, path)
		l.t.Errorf("left behind: %s", rel)
	}
	l.t.Logf("%d temporary files and folders were left by the killed", len(found))
}

// leftovers returns temporary files and folders, and locks of git. Those in the clones
// of a cancelled run do not count: nobody works there again.
func (l *lab) leftovers() []string {
	var out []string
	err := filepath.WalkDir(l.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		gitLock := strings.Contains(path, "/.git/") && strings.HasSuffix(name, ".lock")
		if gitLock && l.cancelled(path) {
			return nil
		}
		if strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, ".new-") || strings.HasPrefix(name, "probe-") || gitLock {
			out = append(out, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// cancelled reports whether the run that the path is of was cancelled.
func (l *lab) cancelled(path string) bool {
	rel, _ := filepath.Rel(filepath.Join(l.state, "runs"), path)
	id, _, _ := strings.Cut(rel, string(filepath.Separator))
	return slices.ContainsFunc(l.events(id), func(e event) bool { return e.Type == "RUN_CANCELLED" })
}
