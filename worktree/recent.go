package worktree

import (
	"context"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/targets/jobs"
)

// The bounds of what is shown of the last task.
const (
	recentLines = 20
	recentBytes = 1000 // of the output, and of the errors
)

// recent returns the end of the output of the task that was started last.
func (t *Tree) recent(ctx context.Context, owner string) []item {
	if t.o.Jobs == nil {
		return nil
	}
	all, err := t.o.Jobs.Jobs(ctx, owner)
	if err != nil || len(all) == 0 {
		return nil
	}
	last := all[0]
	for _, j := range all {
		if j.Started.After(last.Started) {
			last = j
		}
	}
	out, err := t.o.Jobs.Streams(last, recentBytes)
	if err != nil {
		return nil
	}
	said := tail(out.Stdout)
	if errs := tail(out.Stderr); errs != "" {
		said = strings.TrimPrefix(said+"\n"+errs, "\n")
	}
	return []item{{text: fmt.Sprintf("`%s` %s\n\n%s", line(last.Command), ending(last), fenced(said))}}
}

// tail returns the last lines of an output.
func tail(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-recentLines):], "\n")
}

// ending says how a task is.
func ending(j jobs.Job) string {
	switch {
	case j.State == jobs.Running:
		return "is running"
	case j.ExitCode != nil:
		return fmt.Sprintf("ended with exit code %d", *j.ExitCode)
	case j.Signal != "":
		return "was ended by " + j.Signal
	}
	return "failed"
}

// recipes lists what run_just_task can start.
func (t *Tree) recipes(ctx context.Context) string {
	all, err := t.Tasks(ctx)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, r := range all[:min(len(all), maxCounted)] {
		fmt.Fprintf(&b, "- `%s`", r.Name)
		if r.Description != "" {
			b.WriteString(": " + line(r.Description))
		}
		if !r.Allowlisted {
			b.WriteString(" (not allowlisted)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
