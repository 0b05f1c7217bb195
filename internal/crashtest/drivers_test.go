package crashtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Several servers and a worker on one state directory are after the same runs, and the
// server that started them dies.
func TestARunIsDrivenByOneProcessAtATime(t *testing.T) {
	l := newLab(t)
	l.goRepo("product")
	servers := []*server{l.serve(), l.serve(), l.serve()}
	worker := l.command("worker", "--idle", "2s")
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			config := map[string]any{"github_repo_url": "product", "autopilot": map[string]bool{"open_pr": true}}
			var st status
			err := servers[i%3].call("launch_start_run", args{"run_config": config, "idempotency_key": fmt.Sprint("k", i)}, &st)
			if errors.Is(err, errGone) {
				return
			}
			if err != nil {
				t.Errorf("start: %v", err)
				return
			}
			mu.Lock()
			ids = append(ids, st.RunID)
			mu.Unlock()
			for _, s := range servers[1:] { // these have not started it, and want it
				if err := s.call("launch_resume", args{"run_id": st.RunID}, nil); err != nil && code(err) != "RUN_LOCKED" && code(err) != "ILLEGAL_STATE" {
					t.Errorf("resume: %v", err)
				}
			}
		})
	}
	eventually(t, "some runs have started", func() bool { return len(l.runs()) >= 6 })
	servers[0].kill()
	all.Wait()
	for _, id := range ids {
		eventually(t, id+" is done", func() bool {
			var st status
			return servers[1].call("get_run_status", args{"run_id": id}, &st) == nil && st.State == "DONE"
		})
	}
	worker.Wait()
	servers[1].leave()
	servers[2].leave()
	first := l.outcome(ids[0])
	for _, id := range ids {
		l.checkJournal(id)
		compare(t, id, first, l.outcome(id))
	}
	l.checkOneAtATime()
}
