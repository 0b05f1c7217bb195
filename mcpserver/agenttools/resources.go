package agenttools

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strings"

	"github.com/gantry-run/gantry/agents/tasks"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
)

// Resources gives tasks by URI: task://{task_id}/status is one as task_status says it.
type Resources struct{ Tasks *tasks.Tasks }

// Templates implements [tool.Resources].
func (r Resources) Templates() []tool.Template {
	return []tool.Template{{
		URI: "task://{task_id}/status", Name: "task status", Title: "Status of a task",
		Description: "How a background agent's task is and what it said last, as task_status.",
	}}
}

func parse(uri string) (string, error) {
	id, ok := strings.CutPrefix(uri, "task://")
	id, status := strings.CutSuffix(id, "/status")
	plain, err := url.PathUnescape(id)
	if !ok || !status || err != nil || plain == "" || strings.ContainsAny(id, "/?#") {
		return "", fault.New(fault.InvalidInput, "a task is named task://{task_id}/status")
	}
	return plain, nil
}

// Read implements [tool.Resources].
func (r Resources) Read(_ context.Context, who guard.Caller, uri string) (tool.Content, error) {
	id, err := parse(uri)
	if err != nil {
		return tool.Content{}, err
	}
	t, err := r.Tasks.Status(who.Owner(), id)
	if err != nil {
		return tool.Content{}, err
	}
	raw, err := json.Marshal(outOf(t, shown))
	return tool.Content{MIMEType: "application/json", Text: string(raw)}, err
}

// Changes implements [tool.Resources].
func (r Resources) Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error) {
	id, err := parse(uri)
	if err != nil {
		return nil, err
	}
	return r.Tasks.Changes(ctx, who.Owner(), id)
}
