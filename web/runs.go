package web

import (
	"net/http"
	"time"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/rest"
	"github.com/gantry-run/gantry/runs"
)

// RunList is a page of runs.
type RunList struct {
	Runs       []RunSummary `json:"runs"`
	NextCursor string       `json:"next_cursor,omitempty" doc:"Absent on the last page"`
}

// RunSummary is a run in a list.
type RunSummary struct {
	RunID      runs.ID    `json:"run_id"`
	Kind       runs.Kind  `json:"kind"`
	Product    string     `json:"product,omitempty"`
	State      runs.State `json:"state"`
	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// RunDetail is how a run stands.
type RunDetail struct {
	RunSummary
	UpdatedAt     time.Time          `json:"updated_at"`
	Seq           int64              `json:"seq" doc:"Sequence number of the last event"`
	Workflow      string             `json:"workflow"`
	Node          string             `json:"node,omitempty" doc:"Where the run is"`
	Labels        map[string]string  `json:"labels,omitempty"`
	SectionStates map[string]string  `json:"section_states,omitempty"`
	WorkItems     []WorkItem         `json:"work_items"`
	OpenIssues    []runs.IssueChange `json:"open_issues"`
	Paused        *runs.Pause        `json:"paused,omitempty"`
	Failure       *runs.Failure      `json:"failure,omitempty"`
	Published     *runs.Published    `json:"published,omitempty"`
	Process       *runs.Process      `json:"process,omitempty"`
	Links         map[string]string  `json:"links" doc:"Paths of what belongs to the run"`
}

// WorkItem is one piece of work of a run.
type WorkItem struct {
	ID         string     `json:"work_item_id"`
	Node       string     `json:"node"`
	Worker     string     `json:"worker"`
	Status     string     `json:"status"`
	Attempt    int        `json:"attempt"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// ArtifactList is what a run has written.
type ArtifactList struct {
	RunID     runs.ID    `json:"run_id"`
	Artifacts []Artifact `json:"artifacts"`
}

// Artifact is a file of a run.
type Artifact struct {
	Name        string    `json:"name"`
	ContentType string    `json:"content_type"`
	Size        int64     `json:"size_bytes"`
	SHA256      string    `json:"sha256"`
	WrittenAt   time.Time `json:"written_at"`
	Href        string    `json:"href"`
}

const (
	defaultRuns = 50
	maxRuns     = 200
)

func listParams() []rest.Param {
	return []rest.Param{
		{Name: "kind", In: "query", Type: "string", Doc: "Only runs of this kind", Enum: []string{string(runs.Launch), string(runs.Target), string(runs.Session)}},
		{Name: "state", In: "query", Type: "string", Doc: "Only runs in this state"},
		{Name: "product", In: "query", Type: "string", Doc: "Only runs of this product"},
		{Name: "limit", In: "query", Type: "integer", Doc: "Page size, 1 to 200; 50 if it is not given"},
		{Name: "cursor", In: "query", Type: "string", Doc: "next_cursor of the page before"},
	}
}

func (s service) list(r *rest.Request) error {
	limit, err := r.Int("limit", defaultRuns, 1, maxRuns)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	page, err := s.o.Store.List(r.Context(), runs.Filter{
		Kind: runs.Kind(q.Get("kind")), State: runs.State(q.Get("state")), Product: q.Get("product"), Root: s.o.Root,
		Owner: &r.Caller.Token, Limit: int(limit), Cursor: q.Get("cursor"),
	})
	if err != nil {
		return err
	}
	out := RunList{Runs: []RunSummary{}, NextCursor: page.NextCursor}
	for _, one := range page.Runs {
		out.Runs = append(out.Runs, RunSummary{one.ID, one.Kind, one.Product, one.State, one.CreatedAt, one.FinishedAt})
	}
	return r.JSON(http.StatusOK, out)
}

func (s service) show(r *rest.Request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	at := r.URL.Path
	out := RunDetail{
		RunSummary: RunSummary{v.RunID, v.Kind, v.Labels["product_slug"], v.State, v.CreatedAt, v.FinishedAt},
		UpdatedAt:  v.UpdatedAt, Seq: v.Seq, Workflow: v.WorkflowName, Node: v.Node, Labels: v.Labels, SectionStates: v.SectionStates,
		WorkItems: []WorkItem{}, OpenIssues: v.Issues, Failure: v.Failure, Published: v.Published, Process: v.Process,
		Links: map[string]string{"events": at + "/events", "artifacts": at + "/artifacts", "telemetry": "/telemetry/" + string(v.RunID)},
	}
	if v.Process != nil {
		out.Links["logs"] = at + "/logs"
	}
	if v.Paused != nil {
		out.Paused = &v.Paused.Pause
	}
	if out.OpenIssues == nil {
		out.OpenIssues = []runs.IssueChange{}
	}
	for _, w := range v.WorkItems {
		out.WorkItems = append(out.WorkItems, WorkItem{w.ID, w.Node, w.Worker, w.Status, w.Attempt, w.StartedAt, w.FinishedAt})
	}
	return r.JSON(http.StatusOK, out)
}

func (s service) listArtifacts(r *rest.Request) error {
	v, err := s.view(r)
	if err != nil {
		return err
	}
	out := ArtifactList{RunID: v.RunID, Artifacts: []Artifact{}}
	for _, name := range sortedNames(v) {
		a := v.Artifacts[name]
		out.Artifacts = append(out.Artifacts, Artifact{name, artifacts.ContentType(name), a.Size, a.SHA256, a.TS, r.URL.Path + "/" + name})
	}
	return r.JSON(http.StatusOK, out)
}
