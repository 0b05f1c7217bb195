package conformance

// seedOfTelemetry is what the seed of the launch says of observability, and what Gantry
// promises of metrics and traces beyond it.
func seedOfTelemetry() list {
	return list{
		title: "Metrics, traces and logs",
		intro: "The seed of the launch on observability, and the design's telemetry.",
		parts: []part{
			{"Observability, in the seed", observabilityClauses()},
			{"Metrics", metricClauses()},
			{"Traces", traceClauses()},
			{"Deployment", deployClauses()},
		},
	}
}

func observabilityClauses() []clause {
	return []clause{
		{"MUST log all tool invocations to telemetry with tool name, redacted arguments, duration, success or failure",
			"cmd/gantry.TestEveryCallMakesOneRecordAndOneLine telemetry.TestEveryCallLeavesOneOfEach cmd/gantry.TestSecretsLeaveByNoWay", ""},
		{"with the request's id", "telemetry.TestEveryCallLeavesOneOfEach", "in the record, on the span and on the line of the log"},
		{"with the client's identifier, if available", "telemetry.TestEveryCallLeavesOneOfEach", "in the record alone: no metric has it as a label"},
		{"MUST expose a metrics endpoint (optional)", "cmd/gantry.TestMetricsAreForThoseWithATokenOfScopeRead telemetry/export.TestPrometheusGetsEveryMetricUnderItsName",
			"`gantry serve` does; it counts what servers over standard input and output do on the same state directory"},
		{"with tool invocation counts by tool name", "cmd/gantry.TestEveryCallIsCountedOnceAtMetrics", "`gantry_tool_calls_total`"},
		{"with tool execution duration histograms", "cmd/gantry.TestEveryCallIsCountedOnceAtMetrics", "`mcp_server_operation_duration_seconds`"},
		{"with error rates by error_code", "cmd/gantry.TestEveryCallIsCountedOnceAtMetrics cmd/gantry.TestPrometheusShowsWhatTheServerDoes",
			"the label `gantry_error_code` of `gantry_tool_calls_total`"},
		{"SHOULD implement structured logging (JSON) for machine parsing", "cmd/gantry.TestEveryCallMakesOneRecordAndOneLine telemetry.TestLogLinesCarryTheSpan telemetry.TestLogLinesAreClean",
			"the client of the tests refuses any other line of standard error"},
		{"MCP tools MUST emit telemetry events for every call", "telemetry.TestEveryCallLeavesOneOfEach mcpserver/guard.TestEveryWayOutIsRecordedOnce", ""},
		{"MUST emit telemetry event MCP_TOOL_FAILED with error_code and tool name for all tool failures", "telemetry.TestEveryCallLeavesOneOfEach",
			"an event of the call's span and of its record; a timeout is MCP_TOOL_TIMEOUT"},
		{"MUST redact sensitive config values (API keys, tokens) from telemetry and error messages", "cmd/gantry.TestSecretsLeaveByNoWay telemetry.TestNoSecretLeaves", ""},
	}
}

func metricClauses() []clause {
	return []clause{
		{"Every call is counted once, whichever process on a state directory takes it",
			"cmd/gantry.TestEveryCallIsCountedOnceAtMetrics telemetry.TestEachCallIsCountedByOneProcess telemetry.TestAProcessThatExportsNothingTakesNothing", ""},
		{"What happened before anybody exported is not counted as if it were new", "telemetry.TestHistoryIsNotCounted", ""},
		{"Prometheus, OpenMetrics, exemplars, no labels of scopes", "telemetry/export.TestPrometheusGetsEveryMetricUnderItsName cmd/gantry.TestPrometheusShowsWhatTheServerDoes", ""},
		{"A scrape shows what happened before it", "telemetry/export.TestAScrapeShowsWhatHappenedBeforeIt", ""},
		{"The names and labels are those of the document, and no others", "telemetry.TestTheTableOfMetricsIsWhatIsRecorded telemetry/export.TestTheDocumentNamesEveryMetric", ""},
		{"Labels never hold a run id, a path, a branch, a session, a client's name or free text; unknown names are _OTHER",
			"telemetry.TestHostileNamesMakeNoLabels cmd/gantry.TestEveryCallIsCountedOnceAtMetrics", ""},
		{"Requests that are no calls, and sessions, are timed", "telemetry.TestOtherRequestsAreTimedByTheirMethod telemetry.TestSessionsAreTimed cmd/gantry.TestEveryCallIsCountedOnceAtMetrics", ""},
		{"Runs by kind and state, active runs and processes are read when they are asked for", "telemetry.TestGaugesAreReadWhenSomebodyCollects runs.TestRunsAreCountedByKindAndState", ""},
		{"The time to append to journals is read from the store", "telemetry.TestAppendsAreReadFromTheStore runs.TestAppendsAreTimed", ""},
		{"Gates, tokens of agents and output of processes are counted from the journal", "cmd/gantry.TestTokensOfAgentsAreCountedAtMetrics telemetry.TestTokensAndOutputAreCountedFromTheJournal telemetry.TestProjectingTwiceAddsNothing", ""},
		{"/metrics needs a token of scope read; on its own address it needs none", "cmd/gantry.TestMetricsAreForThoseWithATokenOfScopeRead", ""},
	}
}

func traceClauses() []clause {
	return []clause{
		{"A call's span has the caller's traceparent for its parent, and what brought it as a link",
			"telemetry.TestParentComesFromTheCaller telemetry.TestTheRequestThatBroughtACallIsALink", ""},
		{"A run and its nodes are spans made from the journal, with its times", "telemetry.TestSpansOfARunHaveItsTimesAndIds", ""},
		{"A resumed run goes on in its trace", "cmd/gantry.TestARunIsATraceAtTheCollector telemetry.TestAnotherProcessGoesOn", ""},
		{"A replay reproduces the spans", "telemetry.TestAReplayMakesTheSameSpans", ""},
		{"What a run starts gets TRACEPARENT", "targets/jobs.TestAProcessIsPartOfTheTraceOfItsRun runs.TestAProcessGetsTheTraceOfItsRunAndNoOther",
			"tasks and agents; the git of a launch knows no such thing"},
		{"OTLP only when OTEL_EXPORTER_OTLP_ENDPOINT is set", "telemetry/export.TestWithoutAWayOutNothingIsMade telemetry/export.TestWhatIsTurnedOffIsNotSent", ""},
		{"What is left is sent at the end, within two seconds",
			"telemetry/export.TestTracesAndMetricsAreSentToACollectorBeforeTheEnd telemetry/export.TestACollectorThatHangsCostsNothingButSpans cmd/gantry.TestARunIsATraceAtTheCollector", ""},
		{"A collector that is gone costs no call and no exit code", "cmd/gantry.TestACollectorThatIsGoneCostsNothing", ""},
	}
}

func deployClauses() []clause {
	return []clause{
		{"Prometheus scrapes the program, the rules load, an alert fires, every panel's query returns data", "cmd/gantry.TestPrometheusShowsWhatTheServerDoes", ""},
		{"Each alert has a test in which it fires", "cmd/gantry.TestRulesAndAlertsPassTheirOwnTests", "`promtool test rules`"},
		{"Rules name error codes that there are", "cmd/gantry.TestRulesNameCodesThatThereAre", ""},
		{"systemd unit, image and compose file fit the program", "cmd/gantry.TestTheUnitOfSystemdStartsTheProgram cmd/gantry.TestTheImageIsMadeOfWhatIsThere cmd/gantry.TestTheComposeFileIsOfOnePiece",
			"they are parsed and held against the program's flags; no test builds an image or starts a container"},
	}
}
