package runs_test

import (
	"slices"
	"testing"

	"github.com/gantry-run/gantry/runs"
)

func TestAProcessGetsTheTraceOfItsRunAndNoOther(t *testing.T) {
	id := runs.ID("r_20261120T100000Z_abcdefghijkl")
	env := []string{"A=1", "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "TRACESTATE=x=y", "B=2"}
	got := id.Traced(env)
	if want := []string{"A=1", "B=2", "TRACEPARENT=00-" + id.TraceID() + "-" + id.SpanID("") + "-01"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if env[1][:11] != "TRACEPARENT" || env[3] != "B=2" {
		t.Errorf("the caller's environment was changed: %q", env)
	}
}
