package jobs

import (
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/proc"
)

func TestEachWayToStopHasItsSentence(t *testing.T) {
	for want, st := range map[string]proc.Status{
		"Process stopped gracefully with exit code 0":                     {State: proc.Exited, Stopped: proc.Graceful},
		"Process stopped gracefully with exit code 7":                     {State: proc.Exited, Stopped: proc.Graceful, Exit: 7},
		"Process stopped gracefully with signal SIGTERM":                  {State: proc.Failed, Stopped: proc.Graceful, Signal: "SIGTERM"},
		"Process did not stop within 5s and was killed":                   {State: proc.Failed, Stopped: proc.Killed, Signal: "SIGKILL"},
		"Process, or something that it started, still runs after SIGKILL": {State: proc.Running, Stopped: proc.Unkilled},
	} {
		if got := sentence(st, 5*time.Second); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if proc.Graceful != "graceful" || proc.Killed != "killed" || proc.Unkilled != "failed" {
		t.Errorf("on the wire they are %q, %q and %q", proc.Graceful, proc.Killed, proc.Unkilled)
	}
}
