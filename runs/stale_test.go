package runs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/runs"
)

// factory executes work as workers do that depend on their inputs alone, apart from what
// the world gives them: the salt of their node.
type factory struct {
	*walker
	salt map[string]int
}

func newFactory(t testing.TB) factory { return factory{newWalker(t, nil), map[string]int{}} }

// make walks on until the run rests and returns what it executed: node.visit[.item].
func (f factory) make(t testing.TB) []string {
	t.Helper()
	before := len(f.executed())
	for range 500 {
		d := runs.Next(f.view)
		f.add(t, d.Write...)
		for _, work := range d.Execute {
			f.add(t, f.result(work)...)
		}
		if len(d.Write)+len(d.Execute) == 0 {
			var out []string
			for _, key := range f.executed()[before:] {
				out = append(out, key[strings.Index(key, "/")+1:])
			}
			return out
		}
	}
	t.Fatalf("no end: the run is at %s in %s", f.view.Node, f.view.State)
	return nil
}

func (f factory) result(work runs.Work) []runs.Draft {
	done := runs.ItemFinished{WorkItemID: work.Key, Attempt: work.Tries + 1, Inputs: map[string]string{}}
	made := fmt.Sprint(work.Node.Name, f.salt[work.Node.Name])
	for _, name := range work.Node.Inputs {
		if a, ok := f.view.Artifacts[name]; ok {
			done.Inputs[name] = a.SHA256
			made += name + a.SHA256
		}
	}
	var out []runs.Draft
	for _, name := range work.Node.Outputs {
		out = append(out, runs.Draft{Type: runs.ArtifactWritten, Payload: runs.Artifact{Name: name, SHA256: sum(made + name), Writer: work.Node.Worker}})
	}
	switch work.Node.Name {
	case "validate":
		done.Outcome = "ok"
	case "build_plan":
		done.Items = []string{"docs", "blog"}
	case "draft_sections":
		out = append(out, runs.Draft{Type: runs.ArtifactWritten, Payload: runs.Artifact{Name: work.Item + ".md", SHA256: sum(made + work.Item), Writer: work.Node.Worker}})
	}
	return append(out, runs.Draft{Type: runs.WorkItemFinished, Payload: done})
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:4])
}

func (f factory) resume(t testing.TB, c runs.Command) []string {
	t.Helper()
	c.ID, c.Type = fmt.Sprint("resume-", f.view.Seq), runs.Resume
	f.command(t, c)
	return f.make(t)
}

// edited is the artifact after somebody has written into its file.
func (f factory) edited(name, content string) runs.Artifact {
	a := f.view.Artifacts[name].Artifact
	a.SHA256 = content
	return a
}

func TestForceRedoesTheNodeAndOnlyWhatDependsOnWhatItChanged(t *testing.T) {
	f := newFactory(t)
	f.make(t)
	if diff := cmp.Diff([]string{"build_plan.2", "validate.2"}, f.resume(t, runs.Command{Force: "build_plan"})); diff != "" {
		t.Errorf("a plan that comes out the same: %s", diff)
	}
	f.salt["build_plan"]++
	want := []string{"build_plan.3", "draft_sections.2.docs", "draft_sections.2.blog", "merge_and_link.2", "validate.3"}
	if diff := cmp.Diff(want, f.resume(t, runs.Command{Force: "build_plan"})); diff != "" {
		t.Errorf("a plan that comes out otherwise: %s", diff)
	}
	f.salt["clone_inputs"]++ // the site has moved
	want = []string{"clone_inputs.2", "ingest_repo.2", "build_facts.2", "build_plan.4", "draft_sections.3.docs", "draft_sections.3.blog", "merge_and_link.3", "validate.4"}
	if diff := cmp.Diff(want, f.resume(t, runs.Command{Force: "clone_inputs"})); diff != "" {
		t.Errorf("inputs that have moved: %s", diff)
	}
	want = []string{"draft_sections.4.docs", "draft_sections.4.blog", "merge_and_link.4", "validate.5"}
	if diff := cmp.Diff(want, f.resume(t, runs.Command{Force: "draft_sections"})); diff != "" {
		t.Errorf("what comes after a node is redone with it: %s", diff)
	}
}

func TestAChangedArtifactMakesStaleWhatReadItAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"page_plan.json", []string{"draft_sections.2.docs", "draft_sections.2.blog", "merge_and_link.2", "validate.2"}},
		{"docs.md", []string{"merge_and_link.2", "validate.2"}},
		{"patch_bundle.json", []string{"validate.2"}},
		{"truth_lock_report.json", nil},
	} {
		f := newFactory(t)
		f.make(t)
		state := f.view.State
		got := f.resume(t, runs.Command{Changed: []runs.Artifact{f.edited(c.name, "mine")}})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if f.view.Artifacts[c.name].SHA256 != "mine" || f.view.State != state {
			t.Errorf("%s: %+v, %s", c.name, f.view.Artifacts[c.name], f.view.State)
		}
		if again := f.resume(t, runs.Command{}); again != nil {
			t.Errorf("%s: once more without a change: %v", c.name, again)
		}
	}
}

func TestAnArtifactThatIsGoneIsMadeAgain(t *testing.T) {
	f := newFactory(t)
	f.make(t)
	was := f.view.Artifacts["page_plan.json"].SHA256
	got := f.resume(t, runs.Command{Changed: []runs.Artifact{f.edited("page_plan.json", "")}})
	if want := []string{"build_plan.2", "validate.2"}; !slices.Equal(got, want) || f.view.Artifacts["page_plan.json"].SHA256 != was {
		t.Errorf("executed %v", got)
	}
}

// What is on the disk of an interrupted node is its own, and does not lead past it.
func TestAnUnfinishedNodeIsNotPassedOver(t *testing.T) {
	f := newFactory(t)
	f.make(t)
	f.command(t, runs.Command{ID: "force", Type: runs.Resume, Force: "build_plan"})
	for f.view.Visits["build_plan"] < 2 {
		f.add(t, runs.Next(f.view).Write...)
	}
	got := f.resume(t, runs.Command{Changed: []runs.Artifact{f.edited("page_plan.json", "half")}})
	if len(got) == 0 || got[0] != "build_plan.2" {
		t.Errorf("executed %v", got)
	}
	f.command(t, runs.Command{ID: "again", Type: runs.Resume, Force: "build_facts"})
	for f.view.Visits["build_facts"] < 2 {
		f.add(t, runs.Next(f.view).Write...)
	}
	got = f.resume(t, runs.Command{Changed: []runs.Artifact{f.edited("page_plan.json", "mine")}})
	if len(got) == 0 || !strings.HasPrefix(got[0], "build_facts.") || f.view.Artifacts["page_plan.json"].SHA256 != "mine" {
		t.Errorf("executed %v", got)
	}
}

// Promise 2, after any number of forced nodes, changed artifacts and interruptions: a
// node was executed only for a reason, and nothing that stands was made from something else
// than what is there now.
func TestOnlyWhatIsStaleIsRedoneAndNothingStaleStays(t *testing.T) {
	flow := launchWorkflow(t)
	rapid.Check(t, func(rt *rapid.T) {
		f := newFactory(t)
		f.make(t)
		for i := range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			var c runs.Command
			if rapid.Bool().Draw(rt, "force") {
				c.Force = flow.Nodes[rapid.IntRange(0, 6).Draw(rt, "node")].Name
				f.salt[c.Force] += rapid.IntRange(0, 1).Draw(rt, "comes out otherwise")
			}
			for _, name := range []string{"page_plan.json", "repo_inventory.json", "blog.md", "site_context.json"} {
				if rapid.IntRange(0, 3).Draw(rt, "edit") == 0 {
					c.Changed = append(c.Changed, f.edited(name, fmt.Sprint("edited-", i)))
				}
			}
			before := f.view.Clone()
			done := f.resume(t, c)
			if f.view.State != runs.StateReadyForPR || f.view.Paused == nil {
				rt.Fatalf("the run is %s at %s", f.view.State, f.view.Node)
			}
			for _, node := range flow.Nodes[:7] {
				again := slices.ContainsFunc(done, func(k string) bool { return strings.HasPrefix(k, node.Name+".") })
				reason := node.Name == c.Force || !node.Reuse || readsChanged(before, f.view, node, c.Changed, done)
				if again && !reason {
					rt.Fatalf("%s was executed for nothing: %v", node.Name, done)
				}
				for _, w := range f.view.WorkItems {
					if w.Node != node.Name || w.Visit != f.view.Visits[node.Name] || !node.Reuse {
						continue
					}
					for _, name := range node.Inputs {
						if w.Inputs[name] != f.view.Artifacts[name].SHA256 {
							rt.Fatalf("%s stands on another %s: %v", node.Name, name, done)
						}
					}
				}
			}
		}
	})
}

// readsChanged reports whether something that the node reads is not what it was.
func readsChanged(before, after *runs.View, node runs.Node, changed []runs.Artifact, done []string) bool {
	for _, name := range node.Inputs {
		if before.Artifacts[name].SHA256 != after.Artifacts[name].SHA256 || slices.ContainsFunc(changed, func(a runs.Artifact) bool { return a.Name == name }) {
			return true
		}
	}
	for _, name := range node.After {
		if slices.ContainsFunc(done, func(k string) bool { return strings.HasPrefix(k, name+".") }) {
			return true
		}
	}
	return node.Name == "merge_and_link" && slices.ContainsFunc(changed, func(a runs.Artifact) bool { return a.Name == "blog.md" })
}
