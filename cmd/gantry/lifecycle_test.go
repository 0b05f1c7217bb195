package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// start starts a launch of root/product into root/site and returns its run.
func (p *peer) start(config args) string {
	p.t.Helper()
	all := args{"github_repo_url": "product", "site_repo_url": "site"}
	for k, v := range config {
		all[k] = v
	}
	return field(p.t, p.must("launch_start_run", args{"run_config": all}), "run_id")
}

func (p *peer) status(id string) json.RawMessage {
	p.t.Helper()
	return p.must("launch_get_status", args{"run_id": id})
}

// inState checks the state that launch_get_status tells.
func (p *peer) inState(id string, want runs.State) json.RawMessage {
	p.t.Helper()
	s := p.status(id)
	if got := field(p.t, s, "state"); got != string(want) {
		p.t.Fatalf("run %s is in %s, want %s: %s", id, got, want, s)
	}
	if field(p.t, s, "chain.verified") != "true" {
		p.t.Errorf("the chain of %s is not verified: %s", id, s)
	}
	return s
}

// follow subscribes to a resource, in the way of the era.
func (p *peer) follow(uri string) {
	p.t.Helper()
	if p.era == stateful {
		if a := p.request("resources/subscribe", map[string]any{"uri": uri}); a.Error != nil {
			p.t.Fatalf("subscribe: %s", a.Error)
		}
		return
	}
	p.begin("subscriptions/listen", map[string]any{"notifications": map[string]any{"resourceSubscriptions": []string{uri}}})
	select {
	case <-p.acked:
	case <-time.After(patience):
		p.t.Fatal("the subscription is not acknowledged")
	}
}

// paused follows a run, by its notifications alone, until it pauses.
func (p *peer) paused(id string) json.RawMessage {
	p.t.Helper()
	uri := "resource://run/" + id + "/snapshot.json"
	p.follow(uri)
	for {
		s := p.status(id)
		if field(p.t, s, "paused.reason") != "" {
			return s
		}
		select {
		case got := <-p.updated:
			if got != uri {
				p.t.Errorf("notified of %s, subscribed to %s", got, uri)
			}
		case <-time.After(patience):
			p.t.Fatalf("no notification while the run is %s", s)
		}
	}
}

func TestLaunchFromStartToPullRequestOverStdio(t *testing.T) {
	for _, era := range []string{stateful, stateless} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.serve(era, "--rate-limit=0")
			before := w.git("site", "rev-parse", "main")

			id := p.start(nil)
			s := p.paused(id)
			if field(t, s, "state") != string(runs.StateReadyForPR) || !strings.Contains(field(t, s, "next.tools"), "launch_open_pr") {
				t.Fatalf("paused as %s", s)
			}
			p.readsEveryArtifact(id, s)
			p.readsResources(id)

			report := p.must("launch_validate", args{"run_id": id})
			if field(t, report, "validation_report.ok") != "true" {
				t.Errorf("the report is not ok: %.400s", report)
			}
			p.inState(id, runs.StateReadyForPR)

			opened := p.must("launch_open_pr", args{"run_id": id})
			again := p.must("launch_open_pr", args{"run_id": id})
			if !sameJSON(t, opened, again) {
				t.Errorf("the second open_pr returns %s, the first %s", again, opened)
			}
			done := p.inState(id, runs.StateDone)
			if field(t, done, "rollback_steps") == "" {
				t.Errorf("no rollback steps in %s", done)
			}
			w.branchHoldsOnlyAllowedPaths(field(t, opened, "branch"), field(t, opened, "commit_sha"))
			if now := w.git("site", "rev-parse", "main"); now != before {
				t.Errorf("the site's own branch moved")
			}
			p.refused("launch_cancel", args{"run_id": id}, "ILLEGAL_STATE")
			p.refused("launch_resume", args{"run_id": id}, "ILLEGAL_STATE")
			p.refused("launch_fix_next", args{"run_id": id}, "ILLEGAL_STATE")
			p.must("launch_validate", args{"run_id": id}) // only reports
			p.inState(id, runs.StateDone)
			w.verify(id)
			if code := p.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// readsEveryArtifact reads what the status lists, whole and in slices.
func (p *peer) readsEveryArtifact(id string, status json.RawMessage) {
	p.t.Helper()
	var s struct {
		Artifacts []struct{ Name, SHA256 string }
	}
	if err := json.Unmarshal(status, &s); err != nil || len(s.Artifacts) < 10 {
		p.t.Fatalf("%d artifacts, %v", len(s.Artifacts), err)
	}
	names := ""
	for _, a := range s.Artifacts {
		names += " " + a.Name
		whole := p.artifact(id, a.Name, 1<<20)
		if sum := sha256.Sum256(whole); hex.EncodeToString(sum[:]) != a.SHA256 {
			p.t.Errorf("%s is not what its hash says", a.Name)
		}
	}
	for _, want := range []string{"page_plan.json", "evidence_map.json", "patch_bundle.json", "validation_report.json"} {
		if !strings.Contains(names, " "+want) {
			p.t.Errorf("the status does not list %s", want)
		}
	}
	inventory := p.artifact(id, "evidence_map.json", 1<<20)
	if sliced := p.artifact(id, "evidence_map.json", len(inventory)/7); string(sliced) != string(inventory) {
		p.t.Errorf("the slices of evidence_map.json are not the whole")
	}
	accent := strings.Index(string(inventory), "é")
	if accent < 0 {
		p.t.Fatal("the evidence has no character of two bytes")
	}
	half := p.must("launch_get_artifact", args{"run_id": id, "artifact_name": "evidence_map.json", "offset": accent + 1, "max_bytes": 4})
	raw, err := base64.StdEncoding.DecodeString(field(p.t, half, "content"))
	if field(p.t, half, "encoding") != "base64" || err != nil || string(raw) != string(inventory[accent+1:accent+5]) {
		p.t.Errorf("bytes that are no text come as %s", half)
	}
}

// artifact reads an artifact in slices of a size.
func (p *peer) artifact(id, name string, size int) []byte {
	p.t.Helper()
	var out []byte
	for offset := int64(0); ; {
		var piece struct {
			Content, Encoding string
			Truncated         bool
			Next              int64 `json:"next_offset"`
			Size              int64 `json:"size_bytes"`
		}
		res := p.must("launch_get_artifact", args{"run_id": id, "artifact_name": name, "offset": offset, "max_bytes": size})
		if err := json.Unmarshal(res, &piece); err != nil {
			p.t.Fatal(err)
		}
		part := []byte(piece.Content)
		if piece.Encoding == "base64" {
			part, _ = base64.StdEncoding.DecodeString(piece.Content)
		}
		out = append(out, part...)
		if !piece.Truncated {
			if int64(len(out)) != piece.Size {
				p.t.Errorf("%s has %d bytes, %d were read", name, piece.Size, len(out))
			}
			return out
		}
		if piece.Next != offset+int64(len(part)) || len(part) == 0 {
			p.t.Fatalf("%s: after %d bytes from %d, next_offset is %d", name, len(part), offset, piece.Next)
		}
		offset = piece.Next
	}
}

func (p *peer) readsResources(id string) {
	p.t.Helper()
	for _, name := range []string{"page_plan.json", "snapshot.json", "events.ndjson", "run_config.yaml"} {
		a := p.request("resources/read", map[string]any{"uri": "resource://run/" + id + "/" + name})
		if a.Error != nil {
			p.t.Fatalf("resources/read %s: %s", name, a.Error)
		}
		var r struct {
			Contents []struct{ URI, Text, MIMEType string }
		}
		if err := json.Unmarshal(a.Result, &r); err != nil || len(r.Contents) != 1 || r.Contents[0].Text == "" || r.Contents[0].MIMEType == "" {
			p.t.Errorf("resources/read %s: %.200s", name, a.Result)
		} else if want := p.artifact(id, name, 1<<20); name != "events.ndjson" && r.Contents[0].Text != string(want) {
			p.t.Errorf("the resource and the artifact %s differ", name)
		}
	}
	templates := p.request("resources/templates/list", nil)
	if !strings.Contains(string(templates.Result), "resource://run/{run_id}/{artifact}") {
		p.t.Errorf("templates: %s", templates.Result)
	}
	for _, uri := range []string{"resource://run/" + id + "/nothing.json", "resource://run/r_00000000/page_plan.json", "resource://run/" + id + "/../x", "file:///etc/passwd"} {
		if a := p.request("resources/read", map[string]any{"uri": uri}); a.Error == nil {
			p.t.Errorf("%s can be read: %.200s", uri, a.Result)
		}
	}
}

// branchHoldsOnlyAllowedPaths looks at the branch where a maintainer would: in the
// repository of the site.
func (w *world) branchHoldsOnlyAllowedPaths(branch, commit string) {
	w.t.Helper()
	if got := w.git("site", "rev-parse", "refs/heads/"+branch); got != commit {
		w.t.Errorf("the branch %s is at %s, want %s", branch, got, commit)
	}
	files := strings.Split(w.git("site", "diff", "--name-only", "main", branch), "\n")
	if len(files) < 3 {
		w.t.Errorf("the branch changes %v", files)
	}
	for _, f := range files {
		section, _, _ := strings.Cut(strings.TrimPrefix(f, "content/"), "/")
		if !strings.HasPrefix(f, "content/") || path.Ext(f) != ".md" || !strings.Contains("docs reference blog", section) {
			w.t.Errorf("the branch changes %s", f)
		}
	}
	if got := read(w.t, filepath.Join(w.root, "site", "static/do-not-touch/canary.txt")); got != "canary\n" {
		w.t.Errorf("the canary is %q", got)
	}
}
