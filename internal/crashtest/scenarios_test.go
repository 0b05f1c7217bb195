package crashtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// scenario is something that a client does from the start of a run to its end. It
// returns the run if it has come to the end that others can be compared with.
type scenario struct {
	name string
	same string // the scenario whose end this one comes to
	play func(*client) string
}

func scenarios() []scenario {
	return []scenario{
		{"unasked", "", (*client).unasked},
		{"asked", "", (*client).asked},
		{"repaired", "", (*client).repaired},
		{"cancelled", "", (*client).cancelled},
		{"resumed", "unasked", (*client).resumed},
		{"by command", "unasked", (*client).byCommand},
	}
}

func (c *client) key() string {
	c.keys++
	return fmt.Sprintf("%s-%d", c.name, c.keys)
}

// start starts a run, at times twice with the same key, and remembers it.
func (c *client) start(scenario string, auto bool, site string) string {
	config := map[string]any{"github_repo_url": "product", "autopilot": map[string]bool{"fix": auto, "open_pr": auto}}
	if site != "" {
		config["site_repo_url"] = site
	}
	a := args{"run_config": config, "idempotency_key": c.key()}
	var first, again status
	if err := c.ask("launch_start_run", a, &first); err != nil {
		c.t.Errorf("start: %v", err)
		return ""
	}
	c.tell(told{id: first.RunID, scenario: scenario})
	if c.roll(2) == 0 {
		if err := c.ask("launch_start_run", a, &again); err != nil || again.RunID != first.RunID {
			c.t.Errorf("the same key started %s, then %s (%v)", first.RunID, again.RunID, err)
			return ""
		}
	}
	return first.RunID
}

func done(st status) bool       { return st.State == "DONE" }
func readyForPR(st status) bool { return st.State == "READY_FOR_PR" && st.Paused != nil }

// unasked is a launch that needs nobody.
func (c *client) unasked() string {
	id := c.start("unasked", true, "")
	if id == "" {
		return ""
	}
	if _, ok := c.until(id, done); !ok {
		return ""
	}
	return id
}

// asked is a launch into a site of its own, whose gates are run once more, and whose
// pull request is asked for.
func (c *client) asked() string {
	id := c.start("asked", false, "site.git")
	if id == "" {
		return ""
	}
	if _, ok := c.until(id, readyForPR); !ok {
		return ""
	}
	if err := c.ask("launch_validate", args{"run_id": id, "idempotency_key": c.key()}, nil); err != nil {
		c.t.Errorf("validate %s: %v", id, err)
		return ""
	}
	return c.publish(id)
}

// publish opens the pull request, and asks a second time.
func (c *client) publish(id string) string {
	a := args{"run_id": id, "idempotency_key": c.key()}
	var pr, again opened
	if err := c.ask("launch_open_pr", a, &pr); err != nil {
		c.t.Errorf("open_pr %s: %v", id, err)
		return ""
	}
	c.tell(told{id: id, pr: &pr})
	if c.roll(2) == 0 {
		if err := c.ask("launch_open_pr", a, &again); err != nil || again != pr {
			c.t.Errorf("open_pr %s was answered %+v, then %+v (%v)", id, pr, again, err)
		}
	}
	if _, ok := c.until(id, done); !ok {
		return ""
	}
	return id
}

// repaired is a launch whose pages somebody breaks before the pull request.
func (c *client) repaired() string {
	id := c.start("repaired", false, "")
	if id == "" {
		return ""
	}
	if _, ok := c.until(id, readyForPR); !ok {
		return ""
	}
	c.spoil(id)
	if err := c.ask("launch_validate", args{"run_id": id, "idempotency_key": c.key()}, nil); err != nil {
		c.t.Errorf("validate %s: %v", id, err)
		return ""
	}
	for fixes := 0; ; fixes++ {
		st, ok := c.until(id, func(st status) bool { return st.Paused != nil })
		switch {
		case !ok:
			return ""
		case st.State == "READY_FOR_PR" && fixes == 0:
			c.t.Errorf("the spoilt pages of %s pass", id)
			return ""
		case st.State == "READY_FOR_PR":
			return c.publish(id)
		case fixes > 10:
			c.t.Errorf("run %s is not repaired after %d fixes", id, fixes)
			return ""
		}
		if !c.fix(id) {
			return ""
		}
	}
}

// fix asks for a fix, and at times for the same one again.
func (c *client) fix(id string) bool {
	type fixed struct {
		Issue     string `json:"fixed_issue_id"`
		Remaining int    `json:"remaining_blockers"`
	}
	a := args{"run_id": id, "idempotency_key": c.key()}
	var first, again fixed
	if err := c.ask("launch_fix_next", a, &first); err != nil {
		c.t.Errorf("fix_next %s: %v", id, err)
		return false
	}
	if first.Remaining > 0 && c.roll(2) == 0 {
		if err := c.ask("launch_fix_next", a, &again); err != nil || again != first {
			c.t.Errorf("fix_next %s was answered %+v, then %+v (%v)", id, first, again, err)
			return false
		}
	}
	return true
}

// spoil breaks a link on one page and adds a claim without evidence to another.
func (c *client) spoil(id string) {
	content := filepath.Join(c.folder(id), "work", "site", "content")
	for _, page := range []struct{ pattern, line string }{
		{"docs/*/_index.md", "See [the other page](/docs/nowhere-at-all/)."}, {"reference/*/_index.md", "It supports seventeen file formats."},
	} {
		found, err := filepath.Glob(filepath.Join(content, page.pattern))
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%s is %v", page.pattern, found)
		}
		if err != nil {
			c.t.Errorf("spoil: %v", err)
			return
		}
		f, err := os.OpenFile(found[0], os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			c.t.Errorf("spoil: %v", err)
			return
		}
		fmt.Fprintf(f, "\n%s\n", page.line)
		f.Close()
	}
}

// cancelled is a launch that is cancelled at some moment. One that was over before is
// none.
func (c *client) cancelled() string {
	id := c.start("cancelled", true, "")
	if id == "" {
		return ""
	}
	c.moment(300 * time.Millisecond)
	var st status
	err := c.ask("launch_cancel", args{"run_id": id, "idempotency_key": c.key()}, &st)
	switch {
	case err == nil:
		c.tell(told{id: id, cancelled: true})
		c.until(id, func(st status) bool { return st.State == "CANCELLED" })
	case code(err) == "ILLEGAL_STATE":
		c.until(id, done)
	default:
		c.t.Errorf("cancel %s: %v", id, err)
	}
	return ""
}

// resumed is a launch that somebody resumes, whether it needs it or not.
func (c *client) resumed() string {
	id := c.start("resumed", true, "")
	if id == "" {
		return ""
	}
	c.moment(300 * time.Millisecond)
	a := args{"run_id": id, "idempotency_key": c.key()}
	for range 40 { // RUN_LOCKED is retryable, and true as long as the run is executed
		slot := c.slots[c.roll(len(c.slots))]
		s := <-slot
		slot <- s
		err := s.call("launch_resume", a, nil)
		if err == nil || code(err) == "ILLEGAL_STATE" {
			break
		}
		if err != errGone && code(err) != "RUN_LOCKED" && code(err) != "SHUTTING_DOWN" {
			c.t.Errorf("resume %s: %v", id, err)
			return ""
		}
		c.moment(50 * time.Millisecond)
	}
	if _, ok := c.until(id, done); !ok {
		return ""
	}
	return id
}

var runID = regexp.MustCompile(`r_[0-9]{8}T[0-9]{6}Z_[a-z0-9]{12}`)

// byCommand is a launch on the command line, which is killed more often than not. The
// servers finish it.
func (c *client) byCommand() string {
	cmd := c.command("launch", "product")
	out, err := os.CreateTemp(c.t.TempDir(), "out")
	if err != nil {
		c.t.Error(err)
		return ""
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
		return ""
	}
	killed := c.killLater(cmd)
	err = cmd.Wait()
	hit := <-killed
	said, _ := os.ReadFile(out.Name())
	id := runID.Find(said)
	if err != nil && !hit && !strings.Contains(err.Error(), "killed") {
		c.t.Errorf("gantry launch: %v\n%s", err, said)
		return ""
	}
	if id == nil || err == nil && !bytes.Contains(said, []byte("pull request:")) {
		return "" // killed before it said anything
	}
	c.tell(told{id: string(id), scenario: "by command"})
	if _, ok := c.until(string(id), done); !ok {
		return ""
	}
	return string(id)
}

// killLater kills a command after some time, if it lives so long, and tells whether.
func (c *client) killLater(cmd *exec.Cmd) <-chan bool {
	hit := make(chan bool, 1)
	if c.calm || c.roll(4) == 0 {
		hit <- false
		return hit
	}
	go func() {
		c.moment(400 * time.Millisecond)
		dead := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL) == nil
		if dead {
			c.killed()
		}
		hit <- dead
	}()
	return hit
}
