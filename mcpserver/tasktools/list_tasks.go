package tasktools

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/targets"
)

type listTasksIn struct {
	Runner string `json:"runner"`
	Cwd    string `json:"cwd"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listTasksOut struct {
	Tasks      []task    `json:"tasks"`
	Problems   []problem `json:"problems"`
	NextCursor *string   `json:"next_cursor"`
}

type task struct {
	UniqueName      string `json:"unique_name"`
	SourceName      string `json:"source_name"`
	Runner          string `json:"runner"`
	Command         string `json:"command"`
	RunnerAvailable bool   `json:"runner_available"`
	Allowlisted     bool   `json:"allowlisted"`
	FilePath        string `json:"file_path"`
	SourcePath      string `json:"source_path"`
	Description     string `json:"description,omitempty"`
}

type problem struct {
	FilePath string           `json:"file_path"`
	Severity targets.Severity `json:"severity"`
	Message  string           `json:"message"`
}

func (d Deps) listTasks(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, c *guard.Call, in listTasksIn) (listTasksOut, error) {
		l, err := d.Jobs.List(ctx, in.Cwd)
		if err != nil {
			return listTasksOut{}, err
		}
		all := l.Only(in.Runner)
		from, err := in.begin(l, all)
		if err != nil {
			return listTasksOut{}, err
		}
		out := listTasksOut{Tasks: []task{}, Problems: []problem{}}
		if from == 0 {
			out.Problems = problems(l.Problems)
		}
		return in.page(out, l, all[from:]), nil
	})
}

// Bounds of the schema and of a page that names its size.
const (
	maxTasks    = 200
	maxProblems = 100
)

// page adds tasks until the page is full.
func (in listTasksIn) page(out listTasksOut, l targets.Listing, all []targets.Target) listTasksOut {
	limit, room := in.Limit, listBytes-size(out.Problems)
	if limit == 0 {
		limit = maxTasks
	}
	for _, t := range all {
		next := task{
			t.UniqueName, t.SourceName, t.Runner, t.Command, t.Available, t.Allowlisted, t.FilePath, t.FilePath, cut(t.Description, 800),
		}
		room -= size(next)
		if n := len(out.Tasks); n == limit || in.Limit == 0 && n > 0 && room < 0 {
			cursor := in.cursor(l, out.Tasks[n-1].UniqueName)
			out.NextCursor = &cursor
			return out
		}
		out.Tasks = append(out.Tasks, next)
	}
	return out
}

// cursor names the last task of a page, in the list that it is of.
func (in listTasksIn) cursor(l targets.Listing, last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(in.list(l) + last))
}

// list names a list: a folder and a runner.
func (in listTasksIn) list(l targets.Listing) string {
	sum := sha256.Sum256([]byte(l.Dir + "\x00" + in.Runner))
	return hex.EncodeToString(sum[:4])
}

// begin returns where a page begins.
func (in listTasksIn) begin(l targets.Listing, all []targets.Target) (int, error) {
	if in.Cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
	last, ok := strings.CutPrefix(string(raw), in.list(l))
	at := slices.IndexFunc(all, func(t targets.Target) bool { return t.UniqueName == last })
	if err != nil || !ok || at < 0 {
		return 0, fault.New(fault.InvalidCursor, "the cursor does not belong to this list, or the build files have changed")
	}
	return at + 1, nil
}

func problems(all []targets.Problem) []problem {
	out := []problem{}
	for _, p := range all[:min(len(all), maxProblems)] {
		out = append(out, problem{p.FilePath, p.Severity, cut(p.Message, 800)})
	}
	return out
}

// size is what a part of a result weighs.
func size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(raw) + 1
}

// cut shortens a text to a number of characters.
func cut(text string, length int) string {
	if len(text) <= length {
		return text
	}
	r := []rune(text)
	if len(r) <= length {
		return text
	}
	return string(r[:length-1]) + "…"
}
