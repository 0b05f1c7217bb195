package telemetry

import (
	"log/slog"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// log writes the call's line. The handler adds trace_id and span_id, and redacts.
func (c *Call) log(e CallEnd, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case e.Code == fault.Internal:
		level = slog.LevelError
	case e.Outcome != Success:
		level = slog.LevelWarn
	}
	if !c.t.opts.Logger.Enabled(c.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("toolset", c.in.Toolset), slog.String("tool", c.in.Tool), slog.String("request_id", c.in.RequestID),
		slog.String("outcome", outcomeLabel(e.Outcome)), slog.Float64("duration_ms", milliseconds(took)),
	}
	for _, a := range []slog.Attr{
		slog.String("run_id", c.run), slog.String("error_code", codeLabel(e.Code)), slog.String("rejected", c.reason),
		slog.String("client", c.in.Client), slog.String("summary", e.Summary), slog.String("detail", e.Detail),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	c.t.opts.Logger.LogAttrs(c.ctx, level, c.in.Method, attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
