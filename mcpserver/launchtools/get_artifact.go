package launchtools

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// defaultSlice is how many bytes of an artifact are given when the caller does
// not say.
const defaultSlice = 65_536

type getArtifactIn struct {
	RunID    runs.ID `json:"run_id"`
	Name     string  `json:"artifact_name"`
	Offset   int64   `json:"offset"`
	MaxBytes int64   `json:"max_bytes"`
}

type getArtifactOut struct {
	done
	Name        string `json:"artifact_name"`
	Content     string `json:"content"`
	ContentType string `json:"content_type"`
	SHA256      string `json:"sha256"`
	SizeBytes   int64  `json:"size_bytes"`
	Encoding    string `json:"encoding"`
	Truncated   bool   `json:"truncated"`
	NextOffset  int64  `json:"next_offset,omitempty"`
	given       int
}

// Text stands for the content, which is in the structured result.
func (o getArtifactOut) Text() string {
	text := fmt.Sprintf("%s of run %s: %d of %d bytes, %s, sha256 %s", o.Name, o.RunID, o.given, o.SizeBytes, o.ContentType, o.SHA256)
	if o.Truncated {
		text += fmt.Sprintf("; continue at offset %d", o.NextOffset)
	}
	return text
}

func (d Deps) getArtifact(s specs.Tool) tool.Tool {
	return tool.New(s, func(_ context.Context, c *guard.Call, in getArtifactIn) (getArtifactOut, error) {
		if err := validate.ArtifactName(in.Name); err != nil {
			return getArtifactOut{}, err
		}
		if in.MaxBytes == 0 {
			in.MaxBytes = defaultSlice
		}
		a, err := d.Launches.Artifact(in.RunID, c.Owner(), in.Name, in.Offset, in.MaxBytes)
		if err != nil {
			return getArtifactOut{}, err
		}
		out := getArtifactOut{
			done: ok(in.RunID), Name: a.Name, ContentType: a.ContentType, SHA256: a.SHA256, SizeBytes: a.Size,
			Content: string(a.Data), Encoding: "utf-8", Truncated: a.Next > 0, NextOffset: a.Next, given: len(a.Data),
		}
		if !a.Text {
			out.Content, out.Encoding = base64.StdEncoding.EncodeToString(a.Data), "base64"
		}
		return out, nil
	})
}
