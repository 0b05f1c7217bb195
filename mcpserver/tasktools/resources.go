package tasktools

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/targets/jobs"
)

// Resources gives jobs by URI: job://{pid} is one as status lists it, joblog://{pid}?from=
// its output as task_output gives it.
type Resources struct{ Jobs *jobs.Service }

const (
	statusScheme = "job"
	logScheme    = "joblog"
)

// Templates implements [tool.Resources].
func (r Resources) Templates() []tool.Template {
	return []tool.Template{{
		URI: statusScheme + "://{pid}", Name: "job", Title: "Started task",
		Description: "How a started task is, by the pid of its process; as one item of status.",
	}, {
		URI: logScheme + "://{pid}{?from}", Name: "job log", Title: "Output of a started task",
		Description: "The last lines of a started task, or with from those after that byte; as task_output. Read on from its next_from.",
	}}
}

// named is what a URI says.
type named struct {
	scheme string
	pid    int
	from   *int64
}

func parse(uri string) (named, error) {
	bad := fault.New(fault.InvalidInput, "a job is named job://{pid}, its output joblog://{pid}?from={byte}")
	u, err := url.Parse(uri)
	if err != nil || u.Path != "" && u.Path != "/" || u.Scheme != statusScheme && u.Scheme != logScheme {
		return named{}, bad
	}
	n := named{scheme: u.Scheme}
	if n.pid, err = strconv.Atoi(u.Host); err != nil || n.pid < 1 {
		return named{}, bad
	}
	for key, values := range u.Query() {
		from, err := strconv.ParseInt(values[0], 10, 64)
		if key != "from" || n.scheme != logScheme || len(values) > 1 || err != nil || from < 0 {
			return named{}, bad
		}
		n.from = &from
	}
	return n, nil
}

// Read implements [tool.Resources].
func (r Resources) Read(ctx context.Context, who guard.Caller, uri string) (tool.Content, error) {
	n, err := parse(uri)
	if err != nil {
		return tool.Content{}, err
	}
	var result any
	if n.scheme == statusScheme {
		j, err := r.Jobs.Find(ctx, who.Owner(), n.pid)
		if err != nil {
			return tool.Content{}, err
		}
		result = jobOut(j, time.Now())
	} else {
		o, err := r.Jobs.Output(ctx, who.Owner(), n.pid, jobs.OutputRequest{From: n.from})
		if err != nil {
			return tool.Content{}, err
		}
		result = outputOut(n.pid, o)
	}
	raw, err := json.Marshal(result)
	return tool.Content{MIMEType: "application/json", Text: string(raw)}, err
}

// Changes implements [tool.Resources]. A job changes with its events, its log when it
// writes.
func (r Resources) Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error) {
	n, err := parse(uri)
	if err != nil {
		return nil, err
	}
	if n.scheme == logScheme {
		return r.Jobs.Growth(ctx, who.Owner(), n.pid)
	}
	events, err := r.Jobs.Watch(ctx, who.Owner(), n.pid)
	if err != nil {
		return nil, err
	}
	return func(yield func(struct{}) bool) {
		for _, err := range events {
			if err != nil || !yield(struct{}{}) {
				return
			}
		}
	}, nil
}
