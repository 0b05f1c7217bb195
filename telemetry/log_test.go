package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestLogLinesAreClean(t *testing.T) {
	redactor := NewRedactor([]string{"known-secret-value"}).WithRoots("/srv/site")
	dirty := "\x1b[31mknown-secret-value\x1b[0m at /srv/site/a.md \u202e\nsecond line"
	for _, format := range []string{LogJSON, LogText} {
		var out bytes.Buffer
		log := slog.New(NewLogHandler(&out, LogOptions{Format: format, Redactor: redactor}))
		log = log.With("with", dirty).WithGroup("group")
		var nilErr *nilError
		log.Error(dirty, "s", dirty, "err", fmt.Errorf("wrap: %w", errors.New(dirty)), "any", map[string]string{dirty: dirty, "token": "abc"},
			"bytes", []byte("known-secret-value"), slog.Group("g", "in", dirty), dirty, 1, "password", "abc", "lazy", lazy(dirty), "nil", nilErr, "addr", netip.IPv6Unspecified(),
			"func", func() {}, "none", nil, "n", 42, "d", time.Second)
		if strings.Count(out.String(), "\n") != 1 {
			t.Errorf("%s: not one line: %s", format, out.String())
		}
		for _, s := range []string{"known-secret-value", "\x1b", `\u001b`, "[31m", "\u202e", "/srv/site", `"abc"`, "=abc"} {
			if strings.Contains(out.String(), s) {
				t.Errorf("%s: %q in %s", format, s, out.String())
			}
		}
		if !strings.Contains(out.String(), "second line") || !strings.Contains(out.String(), "a.md") {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}

type lazy string

func (l lazy) LogValue() slog.Value { return slog.StringValue(string(l)) }

type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

func TestLogLinesCarryTheSpan(t *testing.T) {
	r := newRig(t, nil)
	ctx, call := r.StartCall(t.Context(), CallStart{Toolset: "worktree", Tool: "read_file"})
	defer call.End(CallEnd{Outcome: Success})
	r.opts.Logger.InfoContext(ctx, "inside", "k", "v")
	r.opts.Logger.With("a", 1).InfoContext(context.Background(), "outside")
	lines := r.logLines()
	var in, out map[string]any
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &in), json.Unmarshal([]byte(lines[1]), &out)); err != nil {
		t.Fatal(err)
	}
	if in["trace_id"] != call.TraceID() || in["span_id"] != call.SpanID() || in["k"] != "v" || in["level"] != "INFO" || in["time"] == nil {
		t.Errorf("%v", in)
	}
	if _, ok := out["trace_id"]; ok {
		t.Errorf("%v", out)
	}
}

func TestLogLevel(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewLogHandler(&out, LogOptions{Level: slog.LevelWarn}))
	log.Info("quiet")
	if out.Len() != 0 {
		t.Error(out.String())
	}
}
