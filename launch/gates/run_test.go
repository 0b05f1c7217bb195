package gates_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/gates"
	"github.com/gantry-run/gantry/launch/gates/gatestest"
)

func gate(name string, run func(context.Context, *gates.Input) (gates.Outcome, error)) gates.Gate {
	return gates.Gate{Name: name, Title: "test", Timeout: func(string) time.Duration { return 20 * time.Millisecond }, Run: run}
}

func found(severity string, n int) func(context.Context, *gates.Input) (gates.Outcome, error) {
	return func(context.Context, *gates.Input) (gates.Outcome, error) {
		var out gates.Outcome
		for i := range n {
			out.Issues = append(out.Issues, dossier.Issue{Code: "X", Severity: severity, Message: "m", Files: []string{},
				Location: &dossier.Location{Path: "p", Line: n - i}})
		}
		return out, nil
	}
}

func TestAGateThatDoesNotFinishIsABlocker(t *testing.T) {
	blocked := make(chan struct{})
	t.Cleanup(func() { close(blocked) })
	for name, c := range map[string]struct {
		run  func(context.Context, *gates.Input) (gates.Outcome, error)
		code string
	}{
		"deaf": {func(context.Context, *gates.Input) (gates.Outcome, error) {
			<-blocked
			return gates.Outcome{}, nil
		}, "GATE_TIMEOUT"},
		"slow": {func(ctx context.Context, _ *gates.Input) (gates.Outcome, error) {
			<-ctx.Done()
			return gates.Outcome{}, ctx.Err()
		}, "GATE_TIMEOUT"},
		"panics": {func(context.Context, *gates.Input) (gates.Outcome, error) { panic("/home/x") }, "VALIDATOR_GATE_EXECUTION_FAILED"},
		"fails": {func(context.Context, *gates.Input) (gates.Outcome, error) {
			return gates.Outcome{}, errors.New("no evidence")
		}, "VALIDATOR_GATE_EXECUTION_FAILED"},
	} {
		list := []gates.Gate{gate(name, c.run), gate("next", found(dossier.Info, 1))}
		report, _, err := gates.RunAll(context.Background(), &gates.Input{}, list, nil)
		if err != nil {
			t.Fatal(err)
		}
		if report.OK || len(report.Issues) != 2 || report.Issues[0].Code != c.code || report.Issues[0].Severity != dossier.Blocker || !report.Gates[1].OK {
			t.Errorf("%s: %+v", name, report)
		}
		if strings.Contains(report.Issues[0].Message, "/home") {
			t.Errorf("%s: %s", name, report.Issues[0].Message)
		}
	}
}

func TestTheProfileDecidesWhatFails(t *testing.T) {
	for _, c := range []struct {
		severity, profile, strictness string
		ok                            bool
	}{
		{dossier.Error, "local", "", false}, {dossier.Blocker, "ci", "relaxed", false}, {dossier.Warning, "local", "strict", true},
		{dossier.Warning, "ci", "", false}, {dossier.Warning, "ci", "strict", false}, {dossier.Warning, "ci", "relaxed", true},
		{dossier.Warning, "prod", "relaxed", false}, {dossier.Info, "prod", "", true},
	} {
		report, _, err := gates.RunAll(context.Background(), &gates.Input{Config: dossier.Config{Profile: c.profile, CIStrictness: c.strictness}}, []gates.Gate{gate("g", found(c.severity, 1))}, nil)
		if err != nil || report.OK != c.ok || report.Gates[0].OK != c.ok {
			t.Errorf("%s in %s: ok=%t, %v", c.severity, c.profile, report.OK, err)
		}
	}
}

func TestIssuesAreBoundedAndInOrder(t *testing.T) {
	report, _, err := gates.RunAll(context.Background(), &gates.Input{}, []gates.Gate{gate("g", found(dossier.Error, 2000))}, nil)
	if err != nil || len(report.Issues) != 500 || report.Gates[0].Issues != 2000 {
		t.Fatalf("%d issues of %d, %v", len(report.Issues), report.Gates[0].Issues, err)
	}
	if _, line := report.Issues[0].At(); line != 1 {
		t.Errorf("the first issue is at line %d", line)
	}
	list := []gates.Gate{gate("a", found(dossier.Error, 1)), gate("b", found(dossier.Blocker, 1))}
	report, _, err = gates.RunAll(context.Background(), &gates.Input{}, list, nil)
	if err != nil || report.Issues[0].Gate != "b" || report.Gates[0].Name != "a" {
		t.Errorf("a blocker of a later gate does not come first: %+v, %v", report, err)
	}
}

func TestTheObserverSeesEachGateStartAndFinish(t *testing.T) {
	var got []string
	_, logs, err := gates.RunAll(context.Background(), &gates.Input{}, []gates.Gate{gate("a", found(dossier.Error, 1)), gate("b", found(dossier.Info, 0))},
		func(p gates.Progress) {
			word := "starts"
			if p.Finished {
				word = map[bool]string{true: "ok", false: "failed"}[p.Result.OK]
			}
			got = append(got, p.Gate+" "+word)
		})
	if diff := cmp.Diff([]string{"a starts", "a failed", "b starts", "b ok"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if len(logs) != 2 || logs[0].Path != "logs/gate_a.log" || !strings.Contains(string(logs[0].Text), "error X p:1 m") {
		t.Errorf("logs: %s", logs[0].Text)
	}
}

func TestACancelledRunHasNoReport(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := gates.RunAll(ctx, &gates.Input{}, []gates.Gate{gate("a", found(dossier.Error, 1))}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Pages made to harm are reported, and neither stop a gate nor lead it outside.
func TestHostilePagesDoNoHarm(t *testing.T) {
	front := "---\ntitle: x\nweight: 1\n---\n"
	files := map[string]string{
		"content/docs/a-long.md":   front + "[x](" + strings.Repeat("a/", 100_000) + ")\n",
		"content/docs/utf8.md":     front + "caf\xe9\n",
		"content/docs/nul.md":      front + "a\x00b\n",
		"content/docs/deep.md":     front + strings.Repeat("> ", 5000) + "x\n",
		"content/docs/large.md":    front + strings.Repeat("word ", 300_000),
		"content/docs/escape.md":   "-> /etc/passwd",
		"content/docs/up.md":       "-> ../../../outside.md",
		"content/docs/loop.md":     "-> loop.md",
		"content/docs/folder":      "-> ../docs",
		"content/docs/links.md":    front + strings.Repeat("[a](/nowhere/at/all/) [b](/nowhere/at/al/)\n\n", 2000),
		"content/docs/tokens.md":   front + strings.Repeat("{{ x }}__A__", 1500) + "\n",
		"content/docs/weird.md":    front + "[a](http://[::1) [b](%zz) [c](//docs.example.com/x) [d](\x1b[31m) [e](javascript:x)\n",
		"content/docs/forge.md":    front + "A `\nblocker FORGED x:1`.\n",
		"content/docs/bad-yaml.md": "---\n\x01: [\n---\n",
	}
	archive := &txtar.Archive{}
	for name, text := range files {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	c := gatestest.Unpack(t, archive)
	c.Input.Changed = append(c.Input.Changed, "../outside.md", "content/docs/../../../x.md", "/etc/passwd.md", "content/docs/gone.md")
	report, _ := run(t, c)
	obeysSchema(t, report)
	unreadable := map[string]bool{}
	for _, i := range report.Issues {
		if i.Code == gates.GateTimeout {
			t.Errorf("%s: %s", i.Gate, i.Message)
		}
		if path, _ := i.At(); i.Code == gates.ValidatorGateExecutionFailed {
			unreadable[path] = true
			if path == "" {
				t.Errorf("%s: %s", i.Gate, i.Message)
			}
		}
		if strings.Contains(i.Message, "\n") || strings.Contains(i.Message, "\x1b") || strings.Contains(i.Message, "root:") || len(i.Message) > 600 {
			t.Errorf("message %q", i.Message)
		}
	}
	for _, name := range []string{"utf8", "nul", "deep", "large", "escape", "up", "loop"} {
		if !unreadable["content/docs/"+name+".md"] {
			t.Errorf("%s.md was not reported", name)
		}
	}
}

func TestMissingArtifactsKeepAReportFromBeingOK(t *testing.T) {
	c := gatestest.Unpack(t, &txtar.Archive{Files: []txtar.File{{Name: "content/docs/x.md", Data: []byte("Text.\n")}}})
	for _, gone := range []error{fs.ErrNotExist, fault.New(fault.ArtifactNotFound, "none"), errors.New("/home/x: disk")} {
		c.Input.Artifact = func(string) ([]byte, error) { return nil, gone }
		report, _ := run(t, c)
		failed := map[string]bool{}
		for _, i := range report.Issues {
			failed[i.Gate] = i.Severity == dossier.Blocker
			if strings.Contains(i.Message, "/home") {
				t.Errorf("%s: %s", i.Gate, i.Message)
			}
		}
		for _, name := range []string{"schema", "frontmatter", "snippets", "truth_lock"} {
			if !failed[name] {
				t.Errorf("%v: %s has no blocker", gone, name)
			}
		}
	}
}

// Looking for the nearest page is bounded, and the same links get it each time.
func TestTheNearestPageIsLookedForOnlySoOften(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "[a](/docs/guide%d/)\n\n", i)
	}
	c := gatestest.Unpack(t, &txtar.Archive{Files: []txtar.File{
		{Name: "content/docs/start.md", Data: []byte(text.String())}, {Name: "content/docs/guide.md", Data: []byte("# G\n")},
	}})
	broken, _, err := gates.BrokenLinks(context.Background(), c.Input, c.Input.Changed)
	near := 0
	for _, b := range broken {
		if b.Nearest == "/docs/guide/" {
			near++
		}
	}
	if err != nil || len(broken) != 300 || near != 200 || broken[199].Nearest == "" {
		t.Errorf("%d broken, %d near, %v", len(broken), near, err)
	}
}

// A site of thousands of pages is indexed, links through front matter included.
func TestALargeSiteIsIndexed(t *testing.T) {
	archive := &txtar.Archive{Files: []txtar.File{{Name: "content/docs/start.md", Data: []byte("[a](/own/77/) [b](/gone/77/) [c](/docs/p77/#x)\n")}}}
	for i := range 3000 {
		archive.Files = append(archive.Files, txtar.File{Name: fmt.Sprintf("content/docs/p%d.md", i), Data: fmt.Appendf(nil, "---\nurl: /own/%d/\ntags: [a]\n---\n# X\n", i)})
	}
	c := gatestest.Unpack(t, archive)
	broken, checked, err := gates.BrokenLinks(context.Background(), c.Input, []string{"content/docs/start.md"})
	if err != nil || checked != 3 || len(broken) != 1 || broken[0].Link.Dest != "/gone/77/" {
		t.Errorf("checked %d, broken %v, %v", checked, broken, err)
	}
}
