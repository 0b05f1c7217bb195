package telemetry

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// The formats of a log.
const (
	LogJSON = "json" // one JSON object a line
	LogText = "text" // key=value, for people
)

// LogOptions configure [NewLogHandler].
type LogOptions struct {
	Format   string       // LogJSON (also when empty) or LogText
	Level    slog.Leveler // nil means info
	Redactor *Redactor    // nil masks shapes only; give it roots to make paths relative
}

// NewLogHandler returns a handler that writes one line a record to w. Messages
// and values are stripped of terminal escapes, redacted and made relative to the
// redactor's roots; the whole value of an attribute with a secret's name is
// masked. A record logged under a span carries its trace_id and span_id.
func NewLogHandler(w io.Writer, o LogOptions) slog.Handler {
	r := o.Redactor
	if r == nil {
		r = NewRedactor(nil)
	}
	opts := &slog.HandlerOptions{Level: o.Level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		return cleanAttr(r, a)
	}}
	if o.Format == LogText {
		return logHandler{slog.NewTextHandler(w, opts)}
	}
	return logHandler{slog.NewJSONHandler(w, opts)}
}

// logHandler adds the ids of the current span.
type logHandler struct{ slog.Handler }

func (h logHandler) Handle(ctx context.Context, rec slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		rec = rec.Clone()
		rec.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, rec)
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.Handler.WithGroup(name)}
}

func cleanAttr(r *Redactor, a slog.Attr) slog.Attr {
	a.Key = r.Clean(a.Key)
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(cleanNamed(r, a.Key, v.String()))
	case slog.KindAny:
		a.Value = cleanAny(r, a.Key, v.Any())
	}
	return a
}

func cleanAny(r *Redactor, key string, v any) (out slog.Value) {
	defer func() {
		if recover() != nil { // the value's own method panicked, a nil error's for one
			out = slog.StringValue(fmt.Sprintf("!PANIC %T", v))
		}
	}()
	switch v := v.(type) {
	case *slog.Source, slog.Level, nil:
		return slog.AnyValue(v)
	case error:
		return slog.StringValue(cleanNamed(r, key, v.Error()))
	case fmt.Stringer:
		return slog.StringValue(cleanNamed(r, key, v.String()))
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			return slog.StringValue("!" + r.Clean(err.Error()))
		}
		return slog.StringValue(cleanNamed(r, key, string(text)))
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue(cleanNamed(r, key, fmt.Sprintf("%+v", v)))
	}
	return slog.AnyValue(json.RawMessage(r.CleanJSON(raw)))
}

func cleanNamed(r *Redactor, key, value string) string {
	if value != "" && secretMember(key) {
		return mask("field")
	}
	return r.Clean(value)
}
