package tasktools

import (
	"context"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets/jobs"
)

type nothing struct{}

type statusOut struct {
	Running  []job `json:"running"`
	NotShown int   `json:"not_shown,omitempty"`
}

type job struct {
	PID         int        `json:"pid"`
	UniqueName  string     `json:"unique_name"`
	State       jobs.State `json:"state"`
	StartedAt   int64      `json:"started_at"` // seconds ago
	StartedTime time.Time  `json:"started_time"`
	Command     string     `json:"command"`
	Args        []string   `json:"args"`
	Cwd         string     `json:"cwd"`
	ExitCode    *int       `json:"exit_code,omitempty"`
	Signal      string     `json:"signal,omitempty"`
	Error       string     `json:"error,omitempty"`
}

func (d Deps) status(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, _ nothing) (statusOut, error) {
		all, err := d.Jobs.Jobs(ctx, c.Owner())
		shown := listed(all, time.Now())
		return statusOut{shown, len(all) - len(shown)}, err
	})
}

// listed returns jobs in the form of the wire: all that run, and of those that ended as
// many as fit into a message.
func listed(all []jobs.Job, now time.Time) []job {
	out, room := []job{}, listBytes
	for _, j := range all {
		one := jobOut(j, now)
		if room -= size(one); room < 0 && j.State != jobs.Running {
			break
		}
		out = append(out, one)
	}
	return out
}

// What a list shows of a command and its arguments; they may be far longer.
const (
	shownCommand = 300
	shownArgs    = 300
)

func jobOut(j jobs.Job, now time.Time) job {
	return job{
		PID: j.PID, UniqueName: j.UniqueName, State: j.State, StartedAt: max(0, int64(now.Sub(j.Started)/time.Second)), StartedTime: j.Started,
		Command: cut(j.Command, shownCommand), Args: shown(j.Args), Cwd: j.Cwd, ExitCode: j.ExitCode, Signal: j.Signal, Error: j.Error,
	}
}

// shown returns the arguments, and of many or long ones the beginning.
func shown(args []string) []string {
	out, room := []string{}, shownArgs
	for i, a := range args {
		if room <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(args)-i))
		}
		a = cut(a, room)
		out = append(out, a)
		room -= len(a) + 1
	}
	return out
}
