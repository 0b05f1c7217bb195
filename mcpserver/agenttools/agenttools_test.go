package agenttools

import (
	"slices"
	"testing"

	"github.com/gantry-run/gantry/specs"
)

func TestInAndOutOfEveryToolAreThoseOfItsSchemas(t *testing.T) {
	all, err := Tools(Deps{Compat: true})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := specs.Tools(Toolset)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(listed) || len(all) == 0 {
		t.Errorf("%d tools are offered, %d are specified", len(all), len(listed))
	}
	for _, one := range all {
		for _, difference := range one.Mismatch() {
			t.Errorf("%s: %s", one.Spec.Name, difference)
		}
	}
}

func TestToolsCanBeLeftOut(t *testing.T) {
	names := func(d Deps) (out []string) {
		all, err := Tools(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			out = append(out, one.Spec.Name)
		}
		return out
	}
	seven := []string{"task_start", "task_send", "task_status", "task_log", "task_stop", "task_list", "task_archive"}
	if got := names(Deps{}); !slices.Equal(got, seven) {
		t.Errorf("%v", got)
	}
	if got := names(Deps{Compat: true, Off: []string{"task_archive"}}); !slices.Equal(got, append(slices.Clone(seven[:6]), "codex", "codex-reply")) {
		t.Errorf("%v", got)
	}
}

func TestATaskIsNamedByItsURI(t *testing.T) {
	for uri, want := range map[string]string{
		"task://a-b/status": "a-b", "task://a%20b/status": "a b", "task:///status": "", "task://a": "", "task://a/b/status": "", "job://a/status": "",
		"task://a/status?x": "", "task://%zz/status": "", "task://a/status/": "",
	} {
		if got, err := parse(uri); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", uri, got, err)
		}
	}
}

func TestFirstCutsBetweenCharacters(t *testing.T) {
	if got := first("aäöü", 2); got != "aä" {
		t.Errorf("%q", got)
	}
}
