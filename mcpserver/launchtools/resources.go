package launchtools

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// Resources gives the artifacts of launches by URI:
// resource://run/{run_id}/{artifact}, snapshot.json and events.ndjson included.
type Resources struct{ Launches *launch.Service }

const uriPrefix = "resource://run/"

// maxResource is how much of a resource is given; more is read in slices with
// launch_get_artifact.
const maxResource = 1 << 20

// Templates implements [tool.Resources].
func (r Resources) Templates() []tool.Template {
	return []tool.Template{{
		URI: uriPrefix + "{run_id}/{artifact}", Name: "run artifact", Title: "Artifact of a launch run",
		Description: "A file that a run has written, by the name that launch_get_status lists; also snapshot.json, run_config.yaml and events.ndjson.",
	}}
}

// parse splits a URI and checks both parts.
func parse(uri string) (runs.ID, string, error) {
	rest, ok := strings.CutPrefix(uri, uriPrefix)
	id, name, both := strings.Cut(rest, "/")
	if !ok || !both {
		return "", "", fault.New(fault.InvalidInput, "a resource is named %s{run_id}/{artifact}", uriPrefix)
	}
	if err := validate.RunID(id); err != nil {
		return "", "", err
	}
	return runs.ID(id), name, validate.ArtifactName(name)
}

// Read implements [tool.Resources].
func (r Resources) Read(_ context.Context, who guard.Caller, uri string) (tool.Content, error) {
	id, name, err := parse(uri)
	if err != nil {
		return tool.Content{}, err
	}
	a, err := r.Launches.Artifact(id, who.Owner(), name, 0, maxResource)
	if err != nil {
		return tool.Content{}, err
	}
	if a.Next > 0 {
		return tool.Content{}, fault.New(fault.InvalidInput, "%s has %d bytes, more than a resource gives", name, a.Size).
			WithHint("read it in slices with launch_get_artifact")
	}
	if a.Text {
		return tool.Content{MIMEType: a.ContentType, Text: string(a.Data)}, nil
	}
	return tool.Content{MIMEType: a.ContentType, Blob: a.Data}, nil
}

// Changes implements [tool.Resources]. An artifact changes when it is written; the
// snapshot and the events change with every event.
func (r Resources) Changes(ctx context.Context, who guard.Caller, uri string) (iter.Seq[struct{}], error) {
	id, name, err := parse(uri)
	if err != nil {
		return nil, err
	}
	events, err := r.Launches.Watch(ctx, id, who.Owner())
	if err != nil {
		return nil, err
	}
	every := name == launch.SnapshotName || name == launch.EventsName
	return func(yield func(struct{}) bool) {
		for e, err := range events {
			if err != nil {
				return
			}
			if (every || writes(e, name)) && !yield(struct{}{}) {
				return
			}
		}
	}, nil
}

func writes(e runs.Event, name string) bool {
	var a runs.Artifact
	return e.Type == runs.ArtifactWritten && json.Unmarshal(e.Payload, &a) == nil && a.Name == name
}
