package worktreetools

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
	"github.com/gantry-run/gantry/worktree"
)

type listDirectoryIn struct {
	Path   string `json:"path"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listDirectoryOut struct {
	Path       string  `json:"path"`
	Entries    []entry `json:"entries"`
	Ignored    int     `json:"ignored"`
	Note       string  `json:"note,omitempty"`
	NextCursor *string `json:"next_cursor"`
}

type entry struct {
	Name      string        `json:"name"`
	Type      worktree.Kind `json:"type"`
	SizeBytes int64         `json:"size_bytes"`
}

func (d Deps) listDirectory(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, in listDirectoryIn) (listDirectoryOut, error) {
		f, err := d.Tree.ListDirectory(ctx, in.Path)
		if err != nil {
			return listDirectoryOut{}, err
		}
		from, err := begin(in.Cursor, f)
		if err != nil {
			return listDirectoryOut{}, err
		}
		out := listDirectoryOut{Path: f.Path, Entries: []entry{}, Ignored: f.Ignored}
		if len(f.Skipped) > 0 {
			out.Note = "too large to be used, so nothing is left out by it: " + strings.Join(f.Skipped[:min(len(f.Skipped), maxSkipped)], ", ")
		}
		return in.page(out, f.Entries[from:]), nil
	})
}

const (
	listBytes  = 8000 // what a page holds at most when the caller does not say
	maxEntries = 1000
	maxSkipped = 3
)

// page adds entries until the page is full.
func (in listDirectoryIn) page(out listDirectoryOut, all []worktree.Entry) listDirectoryOut {
	limit, room := in.Limit, listBytes
	if limit == 0 {
		limit = maxEntries
	}
	for _, e := range all {
		next := entry{e.Name, e.Kind, e.Size}
		room -= size(next)
		if n := len(out.Entries); n == limit || in.Limit == 0 && n > 0 && room < 0 {
			cursor := cursorAt(out.Path, out.Entries[n-1].Name)
			out.NextCursor = &cursor
			return out
		}
		out.Entries = append(out.Entries, next)
	}
	return out
}

// cursorAt names the last entry of a page, in the folder that it is of.
func cursorAt(folder, last string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(tag(folder) + last))
}

func tag(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:4])
}

// begin returns where a page begins: behind the name that the last one ended with,
// whether or not that is still there.
func begin(cursor string, f worktree.Folder) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	last, ok := strings.CutPrefix(string(raw), tag(f.Path))
	if err != nil || !ok {
		return 0, fault.New(fault.InvalidCursor, "the cursor does not belong to this folder")
	}
	at, found := slices.BinarySearchFunc(f.Entries, last, func(e worktree.Entry, name string) int { return strings.Compare(e.Name, name) })
	if found {
		at++
	}
	return at, nil
}

// size is what a part of a result weighs.
func size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(raw) + 1
}
