package crashtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The disk of the state directory is full, and then it is not.
func TestAFullDiskFailsCallsAndNotTheServer(t *testing.T) {
	l := newLab(t)
	l.goRepo("product")
	if err := os.MkdirAll(l.state, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", l.state).CombinedOutput()
	need(t, err == nil, "the right to mount a small disk: "+string(out))
	t.Cleanup(func() { exec.Command("umount", "-l", l.state).Run() })

	s := l.serve()
	defer s.leave()
	config := map[string]any{"github_repo_url": "product"}
	var st status
	if err := s.call("launch_start_run", args{"run_config": config, "idempotency_key": "first"}, &st); err != nil {
		t.Fatal(err)
	}
	id := st.RunID
	rests := func() bool { return s.call("get_run_status", args{"run_id": id}, &st) == nil && readyForPR(st) }
	eventually(t, "the run waits for its pull request", rests)

	fill := filepath.Join(l.state, "fill")
	fillUp(t, fill)
	for tool, a := range map[string]args{
		"launch_start_run": {"run_config": config, "idempotency_key": "second"},
		"launch_open_pr":   {"run_id": id, "idempotency_key": "third"},
		"launch_cancel":    {"run_id": id, "idempotency_key": "fourth"},
	} {
		err := s.call(tool, a, nil)
		if code(err) != "STORE_FULL" {
			t.Errorf("%s on a full disk: %v", tool, err)
		}
	}
	if !rests() {
		t.Errorf("what was acknowledged cannot be read: %+v", st)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	var pr opened
	eventually(t, "the pull request is open", func() bool {
		return s.call("launch_open_pr", args{"run_id": id, "idempotency_key": "third"}, &pr) == nil
	})
	var again status
	if err := s.call("launch_start_run", args{"run_config": config, "idempotency_key": "first"}, &again); err != nil || again.RunID != id {
		t.Errorf("the first key: %v, %s is not %s", err, again.RunID, id)
	}
	if err := s.call("launch_start_run", args{"run_config": config, "idempotency_key": "second"}, &again); err != nil || again.RunID == id {
		t.Errorf("a start when there is room again: %v", err)
	}
	l.checkJournal(id)
	l.must("runs", "verify", id)
}

// fillUp writes a file until the disk is full.
func fillUp(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 16, 512, 1} {
		for chunk := make([]byte, size); err == nil; {
			_, err = f.Write(chunk)
		}
		err = nil
	}
}
