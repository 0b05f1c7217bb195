package launchtools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gantry-run/gantry/launch"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
)

// A status stays under 8 KB: of more issues and artifacts than fit into these bytes of
// JSON, the rest is counted.
const (
	issueBytes    = 2500
	artifactBytes = 3500
	titleLength   = 160 // characters
)

type getStatusOut struct {
	done
	State          runs.State        `json:"state"`
	SectionStates  map[string]string `json:"section_states"`
	OpenIssues     []openIssue       `json:"open_issues"`
	IssuesTotal    int               `json:"open_issues_total"`
	Artifacts      []artifact        `json:"artifacts"`
	ArtifactsTotal int               `json:"artifacts_total"`
	Paused         *paused           `json:"paused,omitempty"`
	Next           *nextStep         `json:"next,omitempty"`
	Chain          chain             `json:"chain"`
	RollbackSteps  []string          `json:"rollback_steps,omitempty"`
}

type openIssue struct {
	IssueID  string `json:"issue_id"`
	Severity string `json:"severity"`
	Gate     string `json:"gate"`
	Title    string `json:"title"`
}

type artifact struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

type paused struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

type nextStep struct {
	Tools  []string `json:"tools"`
	Reason string   `json:"reason"`
}

type chain struct {
	Verified bool   `json:"verified"`
	Seq      int64  `json:"seq"`
	Hash     string `json:"hash,omitempty"`
	BadSeq   int64  `json:"bad_seq,omitempty"`
}

func (d Deps) getStatus(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in run) (getStatusOut, error) {
		st, err := d.Launches.Status(ctx, in.RunID, c.Owner())
		if err != nil {
			return getStatusOut{}, err
		}
		return statusOut(st), nil
	})
}

func statusOut(st launch.Status) getStatusOut {
	out := getStatusOut{
		done: ok(st.ID), State: st.State, SectionStates: st.Sections, OpenIssues: []openIssue{}, IssuesTotal: len(st.Issues),
		Artifacts: []artifact{}, ArtifactsTotal: len(st.Artifacts), RollbackSteps: st.Rollback,
		Chain: chain{st.Chain.Verified, st.Chain.Seq, st.Chain.Hash, st.Chain.FirstBad},
	}
	for _, i := range st.Issues {
		out.OpenIssues = append(out.OpenIssues, openIssue{i.IssueID, i.Severity, i.Gate, cut(i.Title, titleLength)})
	}
	for _, a := range st.Artifacts {
		out.Artifacts = append(out.Artifacts, artifact{a.Name, a.SHA256})
	}
	out.OpenIssues, out.Artifacts = within(issueBytes, out.OpenIssues), within(artifactBytes, out.Artifacts)
	if st.Paused != nil {
		out.Paused = &paused{st.Paused.At, st.Paused.Reason}
	}
	if st.Next != nil {
		out.Next = &nextStep{nonNil(st.Next.Tools), st.Next.Reason}
	}
	return out
}

// within returns the first items that fit into a number of bytes of JSON.
func within[T any](bytes int, items []T) []T {
	for i, item := range items {
		raw, err := json.Marshal(item)
		if bytes -= len(raw) + 1; err != nil || bytes < 0 {
			return items[:i]
		}
	}
	return items
}

// cut shortens a text to a number of characters.
func cut(text string, length int) string {
	r := []rune(text)
	if len(r) <= length {
		return text
	}
	return string(r[:length-1]) + "…"
}
