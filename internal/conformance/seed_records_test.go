package conformance

const (
	apiHoldsUpNobody = "cmd/gantry.TestTheTelemetryAPIHoldsUpNobodyAndGetsEverythingOnce"
	afterKill        = "cmd/gantry.TestRecordsThatWaitSurviveAKill"
	oneRecordACall   = "cmd/gantry.TestEveryCallMakesOneRecordAndOneLine"
	readOverHTTP     = "cmd/gantry.TestARunIsReadOverHTTP"
)

// seedOfRecords is what the seed of the launch says of telemetry, and what the API of records
// adds to it.
func seedOfRecords() list {
	return list{
		title: "The seed of the launch: telemetry",
		intro: "What it says of records, and the telemetry API that it names. Both APIs are in [telemetry-api](telemetry-api.md).",
		parts: []part{
			{"Every call", recordClauses()},
			{"The telemetry API", recordAPIClauses()},
			{"Posting to one", outboxClauses()},
			{"Runs over HTTP", runsOverHTTPClauses()},
		},
	}
}

func recordClauses() []clause {
	return []clause{
		{"MCP tools MUST emit telemetry events for every call", oneRecordACall + " telemetry.TestEveryCallLeavesOneOfEach mcpserver/guard.TestEveryWayOutIsRecordedOnce", ""},
		{"All tool executions MUST be logged to the local telemetry API with job_type mcp_tool_call and context_json with tool, arguments (redacted) and result summary",
			oneRecordACall + " telemetry/api.TestGantrysOwnRecordsAreReadAndNotChanged " + apiHoldsUpNobody, "the local API answers from the store that they are kept in; with TELEMETRY_API_URL they are posted as well"},
		{"MUST emit MCP_TOOL_FAILED with error_code and tool name for all tool failures", "telemetry.TestEveryCallLeavesOneOfEach telemetry/api.TestGantrysOwnRecordsAreReadAndNotChanged",
			"an event of the call's record and of its span; MCP_TOOL_TIMEOUT for one that ran out of time"},
		{"MUST redact sensitive values from telemetry", "cmd/gantry.TestSecretsLeaveByNoWay cmd/gantry.TestRecordsArePostedOverHTTP telemetry.TestNoSecretLeaves", ""},
		{"MUST log request id and client identifier", "telemetry.TestEveryCallLeavesOneOfEach", ""},
	}
}

func recordAPIClauses() []clause {
	return []clause{
		{"POST /api/v1/runs: 201 created; an event_id that is there: 201 duplicate", "cmd/gantry.TestRecordsArePostedOverHTTP telemetry/api.TestPostingTwiceKeepsTheFirst", ""},
		{"Required fields, times with their zone, statuses", "telemetry/api.TestAWrongRecordIsRefusedWithItsFields", "422 with each wrong field"},
		{"Other names of statuses are understood by POST and by filters, and refused by PATCH", "telemetry/api.TestStatusesAreUnderstoodByTheirOtherNamesWhenPosted", ""},
		{"PATCH /api/v1/runs/{event_id}: 200 with fields_updated, 404 for an unknown one", "cmd/gantry.TestRecordsArePostedOverHTTP telemetry/api.TestAPostedRecordCanBeChanged",
			"a record of Gantry's own stays as it is: updated is false"},
		{"POST …/associate-commit: 200 success, 400 for a bad hash or source", "cmd/gantry.TestRecordsArePostedOverHTTP telemetry/api.TestACommitIsAssociated", ""},
		{"GET /api/v1/runs: filters, limit 1 to 1000, offset, the newest first by created_at; an array", "telemetry/api.TestListingFiltersAndPages", "as the document has it, where its server differs"},
		{"GET /api/v1/runs/{event_id}", "telemetry/api.TestPostingTwiceKeepsTheFirst", ""},
		{"GET /telemetry/{run_id}; 404 {error, run_id}", readOverHTTP + " telemetry/api.TestTelemetryOfARun", ""},
		{"GET /health", "cmd/gantry.TestFailuresOverHTTPAreProblems telemetry/api.TestTelemetryOfARun", "db_path is relative: no absolute path leaves"},
		{"Batches, metadata, JSON metrics", "", "not there; `/metrics` is Prometheus"},
		{"A token sees only what is its own to see", "telemetry/api.TestGantrysOwnRecordsAreReadAndNotChanged telemetry/api.TestTelemetryOfARun cmd/gantry.TestWithoutTokensTheAPIsAreNotServed", ""},
	}
}

func outboxClauses() []clause {
	return []clause{
		{"The API down, slow, answering 500 or 400: no call waits, nothing is lost, everything is delivered once when it is back", apiHoldsUpNobody + " telemetry/outbox.TestNothingIsLostAndEachIsDeliveredOnceWhenTheAPIIsBack",
			"the API of the test hangs for as long as the calls take; the ratio is in [benchmarks](benchmarks.md)"},
		{"Three tries, 1, 2 and 4 s; 10 s for each; never again after 4xx", "telemetry/outbox.TestARequestIsTriedThreeTimesUnlessItIsRefused", "what a 4xx refused is kept, and tried again at the next flush"},
		{"10 MB, the oldest dropped and counted", "telemetry/outbox.TestAFullOutboxGivesUpItsOldestLinesAndCountsThem", "line by line, not the half at once"},
		{"Flushed at stable states and at start", "telemetry.TestAllThatIsKeptIsForwardedOnce telemetry/outbox.TestWhatAKilledProcessLeftIsDeliveredAtTheNextStart", "and after a minute"},
		{"What is posted is what the API of the design takes", "cmd/gantry.TestOneGantryKeepsTheRecordsOfAnother", "two Gantrys, one posting to the other"},
		{"Deleted when empty; members sorted", "telemetry/outbox.TestRecordsReachTheAPIAndLeaveNothingBehind telemetry/outbox.TestLinesAreWrittenWithSortedMembers", ""},
		{"Never fatal, never blocking a call: a full queue spills", apiHoldsUpNobody + " telemetry.TestAFullQueueSpills telemetry.TestWhatTheStoreDoesNotTakeIsForwardedAllTheSame telemetry/outbox.TestClosingDoesNotWaitForAHangingAPI", ""},
		{"A kill loses the last records of read calls at most; those of calls that changed something are rebuilt from the journal", afterKill, ""},
		{"After a commit, associate-commit for the run and its children", apiHoldsUpNobody + " telemetry.TestACommitIsNotedAtTheRunAndWhatWasBefore", ""},
		{"One record that is refused does not hold up the others", "telemetry/outbox.TestARefusedRecordDoesNotHoldUpTheOthers", ""},
		{"A run with many records does not hold up the others", "telemetry/outbox.TestABusyRunHoldsUpNoOther", ""},
		{"Processes that share a state directory deliver each record once", "telemetry/outbox.TestProcessesOnOneStateDirectoryLoseNothing telemetry/outbox.TestNoLineIsLostBetweenAddingAndRemoving", ""},
	}
}

func runsOverHTTPClauses() []clause {
	return []clause{
		{"MUST stream large artifacts (> 1 MB)", readOverHTTP + " web.TestAnArtifactIsGivenInRangesUnderItsHash web.TestSecretsInFilesAreMaskedOrTheFileIsKept", "above 8 MiB from the disk; below, masked in memory"},
		{"Events are followed, and resumed with Last-Event-ID", "cmd/gantry.TestARunIsFollowedOverHTTPAndResumed web.TestEventsAreFollowedAndResumed web.TestWhoFollowsIsToldWhenTheServerEnds", ""},
		{"Output is read from a byte on", "cmd/gantry.TestOutputOfATaskIsReadOverHTTP web.TestOutputIsReadOnWhereItEnded", ""},
		{"MUST NOT expose absolute paths; names lead nowhere else", "web.TestALinkOutOfTheRunIsNotFollowed web.TestAnArtifactIsGivenInRangesUnderItsHash cmd/gantry.TestFailuresOverHTTPAreProblems", ""},
		{"An unknown run, a wrong token, a scope that is missing", "cmd/gantry.TestFailuresOverHTTPAreProblems web.TestAnUnknownRunIsAProblemDocument web.TestRunsAreListedAndShownToWhoSeesThem", "problem documents; 401 is the front's"},
		{"The description is what is served", readOverHTTP + " web.TestTheDescriptionIsMadeFromTheRoutes web.TestTheDescriptionIsWhole", ""},
	}
}
