package export_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/telemetry"
	"github.com/gantry-run/gantry/telemetry/export"
	"github.com/gantry-run/gantry/telemetry/export/exporttest"
)

// setenv puts the variables where the exporters read theirs.
func setenv(t *testing.T, environ []string) []string {
	t.Helper()
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	return environ
}

func TestTracesAndMetricsAreSentToACollectorBeforeTheEnd(t *testing.T) {
	c := exporttest.NewCollector(t)
	tel, x, _ := open(t, export.Options{Env: setenv(t, c.Env()), Appends: telemetry.Appends(appends)})
	if x.Metrics(nothing) != nil {
		t.Error("there is something to scrape")
	}
	trace := oneOfEach(t, tel)
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Spans() {
		got = append(got, s.Name+" "+s.TraceID+" "+s.SpanID+" "+s.ParentID)
	}
	slices.Sort(got)
	want := []string{
		"RUN launch " + launchRun.TraceID() + " " + launchRun.SpanID("") + " ",
		"clone " + launchRun.TraceID() + " " + launchRun.SpanID(string(launchRun)+"/clone.1.main") + " " + launchRun.SpanID(""),
		"tools/call read_file " + trace,
		"turn " + sessionRun.TraceID() + " " + sessionRun.SpanID(string(sessionRun)+"/turn.1.main") + " " + sessionRun.SpanID(""),
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	for _, m := range telemetry.Metrics() {
		if !c.HasMetric(m.Name) {
			t.Errorf("%s was not sent", m.Name)
		}
	}
}

func TestWhatIsTurnedOffIsNotSent(t *testing.T) {
	for _, off := range []string{"OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none"} {
		t.Run(off, func(t *testing.T) {
			c := exporttest.NewCollector(t)
			tel, _, _ := open(t, export.Options{Env: setenv(t, append(c.Env(), off))})
			oneOfEach(t, tel)
			if err := tel.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			spans, metrics := len(c.Spans()) > 0, c.HasMetric("gantry.tool.calls")
			if spans != strings.Contains(off, "METRICS") || metrics != strings.Contains(off, "TRACES") {
				t.Errorf("spans %v, metrics %v", spans, metrics)
			}
		})
	}
}

// A collector that never answers holds nobody longer than the given time, and is no error.
func TestACollectorThatHangsCostsNothingButSpans(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // connections are made by the system, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tel, _, log := open(t, export.Options{Env: setenv(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + l.Addr().String()})})
	oneOfEach(t, tel)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := tel.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if said := log.String(); !strings.Contains(said, "could not be delivered") {
		t.Errorf("log: %s", said)
	}
}
