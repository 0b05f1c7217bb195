package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/runs"
)

const changelog = `# Changelog

## 1.2.0

- Added CSV input.
- Fixed a crash on
  empty rows.
- The default width is 80.

## 1.1.0

- Added JSON input.
`

const releaseNotes = `# Release notes: 1.2.0

## Added

- Added CSV input.

## Changed

- The default width is 80.

## Fixed

- Fixed a crash on empty rows.
`

// newFlow returns a world with the worked example in root/flow, and the product to give it.
func newFlow(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.env = append(w.env, "XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(w.root), "outside"))
	if err := os.CopyFS(filepath.Join(w.root, "flow"), os.DirFS("../../examples/release-notes")); err != nil {
		t.Fatal(err)
	}
	w.repository("noted", map[string]string{"CHANGELOG.md": changelog})
	return w
}

const flowFile = "flow/workflow.yaml"

func (w *world) allowFlow() {
	w.t.Helper()
	if code, _, said := w.gantry("allow", "--workflow", filepath.Join(w.root, flowFile)); code != 0 {
		w.t.Fatalf("allow ends with %d: %s", code, said)
	}
}

func (w *world) artifact(id, name string) string {
	w.t.Helper()
	return read(w.t, filepath.Join(w.state, "runs", id, "artifacts", name))
}

// flowConfig is the run_config that starts the example.
func flowConfig() args {
	return args{"github_repo_url": "noted", "workflow": flowFile}
}

func TestTheWorkedExampleMakesReleaseNotesOfAChangelog(t *testing.T) {
	t.Parallel()
	w := newFlow(t)
	w.allowFlow()
	p := w.serve(stateless)
	id := p.start(flowConfig())
	v := w.rest(id)
	if v.State != runs.StateDone {
		t.Fatalf("the run rests in %s: %+v", v.State, v.Failure)
	}
	if diff := cmp.Diff(releaseNotes, w.artifact(id, "release_notes.md")); diff != "" {
		t.Error(diff)
	}
	if got := field(t, p.must("launch_get_artifact", args{"run_id": id, "artifact_name": "release_notes.md"}), "content"); got != releaseNotes {
		t.Errorf("a client reads %s", got)
	}
	p.inState(id, runs.StateDone)
	if left, _ := os.ReadDir(filepath.Join(w.state, "runs", id, "work", "nodes", "write_notes")); len(left) > 0 {
		t.Errorf("a command's folder is left: %v", left)
	}
	w.verify(id)
}

// A client cannot bring code to run: neither with a file that nobody has allowed, nor by
// changing what somebody has.
func TestAWorkflowRunsOnlyAsAPersonAllowedIt(t *testing.T) {
	t.Parallel()
	w := newFlow(t)
	p := w.serve(stateless)
	refused := func(what string) {
		t.Helper()
		r := p.refused("launch_start_run", args{"run_config": flowConfig()}, "ACCESS_DENIED")
		if !strings.Contains(r.Data.Hint, "gantry allow --workflow "+flowFile) {
			t.Errorf("%s: the hint names no command: %q", what, r.Data.Hint)
		}
	}
	refused("never allowed")
	w.allowFlow()
	if v := w.rest(p.start(flowConfig())); v.State != runs.StateDone {
		t.Fatalf("allowed, it rests in %s: %+v", v.State, v.Failure)
	}
	script := filepath.Join(w.root, "flow", "check_notes.sh")
	was := read(t, script)
	write(t, script, was+"touch /tmp/owned\n")
	refused("a script has changed")
	write(t, script, was)
	table := filepath.Join(w.root, flowFile)
	write(t, table, strings.Replace(read(t, table), "[./check_notes.sh]", "[sh, -c, true]", 1))
	refused("the table has changed")
	w.allowFlow()
	if code, out, said := w.gantry("allowlist"); !strings.Contains(out, flowFile) {
		t.Errorf("allowlist: %d %s %s", code, out, said)
	}
	if code, _, said := w.gantry("deny", "--workflow", table); code != 0 {
		t.Errorf("deny: %d %s", code, said)
	}
	refused("withdrawn")

	outside := filepath.Join(filepath.Dir(w.root), "outside", "own.yaml")
	write(t, outside, "name: x\nnodes: [{name: a, worker: clone_inputs}]\n")
	for path, code := range map[string]string{"../outside/own.yaml": "POLICY_PATH_ESCAPE", "flow/none.yaml": "INVALID_INPUT"} {
		p.refused("launch_start_run", args{"run_config": args{"github_repo_url": "noted", "workflow": path}}, code)
	}
}

func TestAGateThatFailsStopsTheRunAndAResumeGoesOnThere(t *testing.T) {
	t.Parallel()
	w := newFlow(t)
	w.repository("unfinished", map[string]string{"CHANGELOG.md": "## 1.0.0\n\n- Added tables. TODO: say which\n"})
	w.allowFlow()
	p := w.serve(stateless)
	id := p.start(args{"github_repo_url": "unfinished", "workflow": flowFile})
	v := w.rest(id)
	if v.State != runs.StateFailed || v.Failure.Code != "PROCESS_FAILED" || v.Failure.Node != "check_notes" || !strings.Contains(string(v.Failure.Details), "not finished") {
		t.Fatalf("the run rests in %s: %+v %s", v.State, v.Failure, v.Failure.Details)
	}
	notes := filepath.Join(w.state, "runs", id, "artifacts", "release_notes.md")
	write(t, notes, strings.Replace(read(t, notes), " TODO: say which", "", 1)) // a person mends it
	p.must("launch_resume", args{"run_id": id})
	v = w.until(id, func(v *runs.View) bool { return v.State == runs.StateDone })
	want := map[string]int{"clone_inputs": 1, "newest_release": 1, "sort_changes": 1, "write_notes": 1, "check_notes": 1}
	if diff := cmp.Diff(want, v.Visits); diff != "" {
		t.Error(diff)
	}
}

// Another kill than the crash tests': of a server whose command works.
func TestACommandWhoseServerWasKilledIsBegunAnewAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newFlow(t)
	fifo := filepath.Join(filepath.Dir(w.root), "outside", "fifo")
	mkdir(t, filepath.Dir(fifo))
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(w.root, "flow", "sort_changes.sh")
	hold := "#!/bin/sh\nif mv " + fifo + " " + fifo + ".$$ 2>/dev/null; then mkfifo " + fifo + ".held; echo half > artifacts/changes.tsv; cat " + fifo + ".$$; fi\n"
	write(t, script, strings.Replace(read(t, script), "#!/bin/sh\n", hold, 1))
	w.allowFlow()
	p := w.serve(stateless)
	id := p.start(flowConfig())
	eventually(t, "the command works", func() bool { _, err := os.Stat(fifo + ".held"); return err == nil })
	p.signal(syscall.SIGKILL)
	w.serve(stateful) // takes what nobody drives
	v := w.until(id, func(v *runs.View) bool { return v.State.Terminal() })
	if v.State != runs.StateDone {
		t.Fatalf("the run rests in %s: %+v", v.State, v.Failure)
	}
	if diff := cmp.Diff(releaseNotes, w.artifact(id, "release_notes.md")); diff != "" {
		t.Error(diff)
	}
	for _, item := range v.WorkItems {
		if want := map[bool]int{false: 1, true: 2}[item.Node == "sort_changes"]; item.Attempt != want {
			t.Errorf("%s was attempted %d times, want %d", item.Node, item.Attempt, want)
		}
	}
	w.verify(id)
}
