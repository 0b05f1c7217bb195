package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

const canaryText = "the canary sings in the mine"

// tree is what a folder holds: files with their hashes, links with their targets.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if e.Type()&fs.ModeSymlink != 0 {
			out[rel], err = os.Readlink(path)
			return err
		}
		raw, err := os.ReadFile(path)
		out[rel] = fmt.Sprintf("%x", sha256.Sum256(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outside plants canaries outside the root and the state directory, and returns what
// tells whether one was touched.
func (w *world) outside() (dir string, untouched func()) {
	w.t.Helper()
	dir = filepath.Join(filepath.Dir(w.root), "outside")
	write(w.t, filepath.Join(dir, "secret.json"), `{"canary": "`+canaryText+`"}`)
	write(w.t, filepath.Join(dir, "page.md"), "---\ntitle: x\n---\n"+canaryText+"\n")
	w.git(filepath.Join(dir, "repo"), "init", "-q")
	before := tree(w.t, dir)
	return dir, func() {
		w.t.Helper()
		after := tree(w.t, dir)
		for name, hash := range before {
			if after[name] != hash {
				w.t.Errorf("%s was changed", name)
			}
		}
		if len(after) != len(before) {
			w.t.Errorf("outside holds %d files, before %d", len(after), len(before))
		}
	}
}

// silent fails if an answer holds a canary, or the name of a folder of this machine.
func (p *peer) silent(what string, a answer, dirs ...string) {
	p.t.Helper()
	said := string(a.Result)
	if a.Error != nil {
		said = a.Error.String() + a.Error.Data.Hint
	}
	for _, secret := range append(dirs, canaryText, base64.StdEncoding.EncodeToString([]byte(canaryText))) {
		if strings.Contains(said, secret) {
			p.t.Errorf("%s tells %q: %.300s", what, secret, said)
		}
	}
}

func TestNamesNeverBecomePaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, untouched := w.outside()
	p := w.serve(stateful, "--rate-limit=0")
	id := w.ready(p, nil)
	before := tree(t, filepath.Join(w.state, "runs"))
	for _, bad := range []string{
		"../x", "../../etc/passwd", "r_1234567/../r_other", "r_12345678 .json", "ｒ_12345678", "aaaaaaa", "${jndi:ldap://x}", "$(id)-aaaaaa",
		"r_12345678\x00", "../" + id, id + "/", "./" + id, strings.Repeat("a", 65),
	} {
		for _, tool := range []string{"launch_get_status", "get_artifact", "launch_cancel", "launch_validate", "launch_open_pr", "get_telemetry", "resume_run"} {
			arguments := args{"run_id": bad}
			if tool == "get_artifact" {
				arguments["artifact_name"] = "pr.json"
			}
			if a := p.call(tool, arguments); a.Error == nil || a.Error.Code != -32602 {
				t.Errorf("%s of run %q: %s %.200s", tool, bad, a.Error, a.Result)
			}
		}
	}
	for _, bad := range []string{
		"../run.json", "..", ".", "a/b", "/etc/passwd", `C:\Windows\win.ini`, `\\host\share\x`, "file:///etc/passwd", "page_plan.json/..", "drafts/../run_config.yaml",
		"page_plan.json\x00", "page_plan.json ", "",
	} {
		if a := p.call("launch_get_artifact", args{"run_id": id, "artifact_name": bad}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("artifact %q: %s %.200s", bad, a.Error, a.Result)
		}
	}
	for _, name := range []string{".env", "sources.json", "drive.lock", "id_rsa", "config"} {
		p.refused("launch_get_artifact", args{"run_id": id, "artifact_name": name}, "ARTIFACT_NOT_FOUND")
	}
	for _, cursor := range []string{"../../x", "eyJhIjoxfQ", "0", "%00"} {
		p.refused("launch_list_runs", args{"cursor": cursor}, "INVALID_CURSOR")
		p.refused("list_taskcards", args{"cursor": cursor}, "INVALID_CURSOR")
		p.refused("get_telemetry", args{"run_id": id, "cursor": cursor}, "INVALID_CURSOR")
	}
	if err := os.Symlink(dir, filepath.Join(w.root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../outside/repo", dir, filepath.Join(dir, "repo"), "link", "link/repo", "product/../../outside/repo", "/etc", "..", "/"} {
		for _, key := range []string{"github_repo_url", "site_repo_url"} {
			config := args{"github_repo_url": "product"}
			config[key] = path
			a := p.call("launch_start_run", args{"run_config": config})
			if a.Error == nil || a.Error.Data.Code != "POLICY_PATH_ESCAPE" {
				t.Errorf("%s %q: %s %.200s", key, path, a.Error, a.Result)
			}
			p.silent(path, a, filepath.Dir(w.root))
		}
	}
	for _, url := range []string{
		"ext::sh -c id", "file:///etc", "file://" + dir + "/repo", "ssh://-oProxyCommand=id/x", "git@-oProxyCommand:x", "http://169.254.169.254/x",
		"gopher://x/y", "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "-oProxyCommand=id:x",
	} {
		for _, key := range []string{"github_repo_url", "site_repo_url"} {
			config := args{"github_repo_url": "product"}
			config[key] = url
			a := p.call("launch_start_run", args{"run_config": config})
			if a.Error == nil || a.Error.Data.Code != "URL_NOT_ALLOWED" {
				t.Errorf("%s %q: %s %.200s", key, url, a.Error, a.Result)
			}
		}
	}
	for _, card := range []string{"../outside/page.md", "/etc/passwd", filepath.Join(dir, "page.md"), "link/page.md", "plans/taskcards/../../../outside/page.md"} {
		a := p.call("validate_taskcard", args{"taskcard": card})
		if a.Error == nil || a.Error.Data.Code != "POLICY_PATH_ESCAPE" {
			t.Errorf("taskcard %q: %s %.200s", card, a.Error, a.Result)
		}
		p.silent(card, a, filepath.Dir(w.root))
	}
	untouched()
	after := tree(t, filepath.Join(w.state, "runs"))
	for name, hash := range after {
		if before[name] != hash && filepath.Base(name) != "snapshot.json" { // written when the drive ends
			t.Errorf("refused calls changed %s", name)
		}
	}
}

// Links that lead out of a run's folder, planted by whoever may write there, are
// neither read through nor written through.
func TestLinksOutOfARunAreNotFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir, untouched := w.outside()
	id := w.ready(w.serve(stateful), nil)
	run := filepath.Join(w.state, "runs", id)
	plant := func(name, target string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(run, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(run, name)); err != nil {
			t.Fatal(err)
		}
	}
	plant("artifacts/page_plan.json", filepath.Join(dir, "secret.json"))
	plant("artifacts/evidence_map.json", "../../../../outside/secret.json")
	plant("run_config.yaml", filepath.Join(dir, "secret.json"))
	plant("work/site/"+firstPage, filepath.Join(dir, "page.md"))
	plant("work/site/content/reference/widget", dir)
	if err := os.Symlink(dir, filepath.Join(w.state, "runs", "r_planted0001")); err != nil {
		t.Fatal(err)
	}

	p := w.serve(stateless, "--rate-limit=0") // it has nothing in its cache
	for _, name := range []string{"page_plan.json", "evidence_map.json", "run_config.yaml"} {
		a := p.call("launch_get_artifact", args{"run_id": id, "artifact_name": name})
		if a.Error == nil {
			t.Errorf("%s can be read: %.300s", name, a.Result)
		}
		p.silent(name, a, filepath.Dir(w.root))
		a = p.request("resources/read", map[string]any{"uri": "resource://run/" + id + "/" + name})
		if a.Error == nil {
			t.Errorf("resource %s can be read: %.300s", name, a.Result)
		}
		p.silent(name, a, filepath.Dir(w.root))
	}
	p.silent("status", p.call("launch_get_status", args{"run_id": "r_planted0001"}))
	for _, tool := range []string{"launch_validate", "launch_fix_next", "launch_fix_next", "launch_open_pr"} {
		a := p.call(tool, args{"run_id": id})
		p.silent(tool, a, filepath.Dir(w.root))
	}
	if v := w.rest(id); v.State == runs.StateDone {
		t.Error("a pull request was opened of a work tree with links that lead out")
	}
	untouched()
}
