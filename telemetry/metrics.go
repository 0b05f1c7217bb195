package telemetry

import "go.opentelemetry.io/otel/attribute"

// MetricKind is what a metric does with its values.
type MetricKind string

// The kinds of metric.
const (
	Counter   MetricKind = "counter"   // only grows
	Gauge     MetricKind = "gauge"     // is read when it is asked for
	Histogram MetricKind = "histogram" // durations by bucket
)

// Metric describes a metric that a process exposes. Nothing but what the table of
// [Metrics] names is ever a label, and each label has a bounded number of values.
type Metric struct {
	Name    string
	Kind    MetricKind
	Unit    string // of UCUM
	Labels  []attribute.Key
	Help    string
	Buckets []float64 // upper bounds, of a histogram
}

// Metrics returns every metric of this package, sorted as documents show them. Their
// names are those of the MCP and CI/CD conventions, and Gantry's own below "gantry.".
func Metrics() []Metric {
	return []Metric{
		{"mcp.server.operation.duration", Histogram, "s", []attribute.Key{keyMethod, keyTool, keyErrorType},
			"Duration of an MCP request as the server sees it.", operationBuckets()},
		{"mcp.server.session.duration", Histogram, "s", []attribute.Key{keyProtocol, keyTransport},
			"Duration of a session with a client of a revision that has sessions.", runBuckets()},
		{"gantry.tool.calls", Counter, "{call}", []attribute.Key{keyToolset, keyTool, keyOutcome, keyErrorCode},
			"Tool calls, refused ones too.", nil},
		{"gantry.guard.duration", Histogram, "s", nil,
			"Time from the arrival of a call to its handler, or to its refusal.", guardBuckets()},
		{"gantry.guard.rejections", Counter, "{call}", []attribute.Key{keyReason},
			"Calls refused before their handler, by the guard that refused.", nil},
		{"gantry.runs", Gauge, "{run}", []attribute.Key{keyKind, keyState},
			"Runs in the state directory.", nil},
		{"cicd.pipeline.run.active", Gauge, "{run}", []attribute.Key{keyPipeline, keyPipelineState},
			"Runs that are not over: executing, or pending while they wait for a command.", nil},
		{"cicd.pipeline.run.duration", Histogram, "s", []attribute.Key{keyPipeline, keyPipelineState, keyPipelineResult, keyErrorType},
			"Duration of a run from its start to its end.", runBuckets()},
		{"cicd.pipeline.run.errors", Counter, "{error}", []attribute.Key{keyPipeline, keyErrorType},
			"Runs that failed.", nil},
		{"gantry.gate.results", Counter, "{gate}", []attribute.Key{keyGate, keyResult},
			"Gate runs: ok, failed or skipped.", nil},
		{"gantry.processes", Gauge, "{process}", []attribute.Key{keyKind},
			"Supervised processes that run now.", nil},
		{"gantry.process.output.bytes", Counter, "By", []attribute.Key{keyKind},
			"Output that supervised processes had written when they ended.", nil},
		{"gantry.journal.append.duration", Histogram, "s", []attribute.Key{keyKind},
			"Time to append to a journal, its sync included.", appendBuckets()},
		{"gantry.agent.tokens", Counter, "{token}", []attribute.Key{keyExecutor, keyTokenType},
			"Tokens that agents' turns used, as their command lines report them, and those of calls to models (MODEL).", nil},
	}
}

// operationBuckets are those of the MCP conventions.
func operationBuckets() []float64 {
	return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
}

func runBuckets() []float64 {
	return []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400}
}

func guardBuckets() []float64 {
	return []float64{10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 50e-3, 0.25, 1, 2.5}
}
