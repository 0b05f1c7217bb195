package conformance

const (
	overStdio    = "cmd/gantry.TestLaunchFromStartToPullRequestOverStdio"
	everyResult  = "cmd/gantry.TestEveryToolAnswersAsItsSchemaSays"
	everyRefusal = "cmd/gantry.TestEverySchemaViolationIsRefusedWithItsProblems"
)

// seedOfTheLaunch is what the seed of the launch toolset demands, but for telemetry and HTTP,
// which have lists of their own.
func seedOfTheLaunch() list {
	return list{
		title: "The seed of the launch",
		intro: "Its tools and each of its MUSTs and SHOULDs. What it says of telemetry, metrics and HTTP is in lists of its own.",
		parts: []part{
			{"Tools", launchToolClauses()},
			{"Binding behavior and errors", launchErrorClauses()},
			{"Lifecycle", launchLifecycleClauses()},
			{"Arguments, files and secrets", launchSecurityClauses()},
			{"Size, lists and versions", launchSizeClauses()},
		},
	}
}

func launchToolClauses() []clause {
	return []clause{
		{"All features MUST be available via MCP tools", "cmd/gantry.TestCommandLine " + everyResult, "consent and set-up are a person's: they have commands and no tools"},
		{"launch_start_run → {run_id}", overStdio + " cmd/gantry.TestOneKeyStartsOneRun", ""},
		{"launch_start_run_from_product_url → {run_id, derived_config}", everyResult, ""},
		{"launch_start_run_from_github_repo_url → {run_id, derived_config}", everyResult, ""},
		{"launch_get_status → {state, section_states, open_issues, artifacts}", overStdio + " " + everyResult, ""},
		{"launch_get_artifact → {content, content_type, sha256}", overStdio + " " + everyResult, ""},
		{"launch_validate → {validation_report}", "cmd/gantry.TestValidateSendsAReadyRunBackWhenItFails", ""},
		{"launch_fix_next → {applied_patch_ids, remaining_issues}", "cmd/gantry.TestFixNextRepairsOneIssueACallInOrder", ""},
		{"launch_resume → {state}", "cmd/gantry.TestAFailedRunIsResumed", ""},
		{"launch_cancel → {cancelled: true}", "cmd/gantry.TestCancelGetsThroughWhileANodeExecutes cmd/gantry.TestAPausedRunCanBeCancelled", ""},
		{"launch_open_pr → {pr_url, branch}", overStdio, ""},
		{"launch_list_runs → {runs}", overStdio + " specs.TestListsTakeLimitAndCursorAndGiveNextCursor", ""},
		{"launch_start_run_from_url is a deprecated alias", "specs.TestDuplicateEqualsItsOriginal " + everyResult, ""},
		{"The ten required tools: launch_run, get_run_status, list_runs, get_artifact, validate_run, resume_run, cancel_run, get_telemetry, list_taskcards, validate_taskcard",
			"specs.TestLaunchToolsAreListedInTheOrderOfTheSeed specs.TestDuplicateEqualsItsOriginal " + everyResult, "one handler for each capability, under both names"},
		{"The server is called foss-launcher-mcp, its version is the program's, it has tools and resources", "cmd/gantry.TestCommandLine mcpserver.TestEveryEraWorksOverStdio",
			"when it serves the launch toolset alone; with others it is `gantry`"},
	}
}

func launchErrorClauses() []clause {
	return []clause{
		{"MUST enforce allowed_paths and forbid out-of-scope edits", "launch.TestAChangeOutsideAllowedPathsIsNotPublished artifacts.TestNothingIsWrittenOrReadOutsideTheFolder cmd/gantry.TestNamesNeverBecomePaths", ""},
		{"MUST be deterministic", "launch.TestTwoLaunchesOfTheSameInputsAreTheSame internal/crashtest.TestSameInputsGiveTheSameBytesAndTheSameCommit", ""},
		{"Execution errors are MCP errors with error_code and details in data", everyRefusal + " mcpserver.TestJSONRPCErrors", ""},
		{"-32700 and -32600", "cmd/gantry.TestMalformedLinesAreAnsweredAndTheNextCallWorks mcpserver/stdio.TestHostileLineIsAnsweredAndTheSessionLives", ""},
		{"-32601 for an unknown tool", "cmd/gantry.TestUnknownToolsAndRunsAreToldWithWhatToDo mcpserver.TestAnUnknownToolIsMethodNotFoundAndRecorded", ""},
		{"-32602 for arguments that break the schema, with the details", everyRefusal, ""},
		{"-32603 for a failure of the tool", "mcpserver.TestJSONRPCErrors", ""},
		{"MUST distinguish retryable errors from others", "specs.TestFaultsAreRetryableAsTheRegistrySays specs.TestEveryErrorSaysWhatToDo", "`retryable` and a hint in every error"},
		{"SHOULD log stack traces and keep them from clients", "mcpserver/guard.TestAPanicIsOpaqueOutsideAndWholeInTheLog", ""},
	}
}

func launchLifecycleClauses() []clause {
	return []clause{
		{"MUST complete the current calls at SIGTERM and SIGINT", "cmd/gantry.TestEveryAcceptedCallIsAnsweredAtTheEnd cmd/gantry.TestARunOutlivesItsServer", ""},
		{"MUST support concurrent calls", "cmd/gantry.TestTwentyClientsOnOneStateDirectory mcpserver/stdio.TestEveryCallOfABusyClientIsAnsweredOnce", ""},
		{"MUST use locks against concurrent modification of one run", "cmd/gantry.TestMutatingCallsOnOneRunDoNotOverlap mcpserver/guard.TestCallsOnOneRunAreSerialisedAndWaitOnlyAWhile", "held across connections and processes, which is more than was asked for"},
		{"SHOULD have a request timeout of 300 s by default", "specs.TestTimeoutsOfLaunchToolsAreTheAgreedOnes mcpserver/guard.TestATimeoutIsRetryableAndTheWorkGoesOn", ""},
		{"MUST abort a call whose client disconnects", "mcpserver.TestACancelledCallEndsAndTheNextIsAnswered mcpserver.TestLeavingCancelsTheCall mcpserver/stdio.TestH031InputEndsWhileACallRuns",
			"over stdio an accepted call may finish within 2 s; a run is never aborted"},
	}
}

func launchSecurityClauses() []clause {
	return []clause{
		{"MUST validate all arguments before execution", everyRefusal + " mcpserver/guard.TestTheOrderIsTheDocumentedOne", ""},
		{"MUST reject a run_id that does not match the pattern", "validate.TestRunIDs cmd/gantry.TestNamesNeverBecomePaths", ""},
		{"MUST sanitize run_id and artifact names", "cmd/gantry.TestNamesNeverBecomePaths cmd/gantry.TestLinksOutOfARunAreNotFollowed validate.TestArtifactNames", ""},
		{"MUST NOT expose absolute paths", "launch.TestNoAbsolutePathLeavesTheSources telemetry.TestRootsBecomeRelative mcpserver/guard.TestSecretsAreMaskedOnEveryWayOut", ""},
		{"MUST redact secrets from errors", "cmd/gantry.TestSecretsLeaveByNoWay mcpserver/guard.TestSecretsAreMaskedOnEveryWayOut", ""},
		{"MUST rate-limit each client, 100 a minute", "cmd/gantry.TestOneOfAHundredAndOneCallsIsLimited mcpserver/guard.TestClientsAreCountedByTokenThenSession", ""},
	}
}

func launchSizeClauses() []clause {
	return []clause{
		{"SHOULD cache artifacts for 60 s", "artifacts.TestCacheIsKeyedByHashAndForgets", "up to 1 MiB, by hash: what changed is never stale"},
		{"MUST stream artifacts above 1 MB", "artifacts.TestSlicesPutTogetherAreTheFile launch.TestSlicesEndBetweenCharacters cmd/gantry.TestARunIsReadOverHTTP", "in slices over MCP, as a stream over HTTP"},
		{"SHOULD page lists of runs, 50 at a time", "specs.TestListsTakeLimitAndCursorAndGiveNextCursor", ""},
		{"Resources: resource://run/{run_id}/{artifact}", overStdio + " mcpserver/launchtools.TestResourceNames mcpserver.TestReadingResources", ""},
		{"MUST negotiate the protocol's version", "mcpserver.TestEveryEraWorksOverStdio mcpserver.TestOneURLServesBothEras", ""},
		{"Passes the protocol's compliance tests", "cmd/gantry.TestTheShippedServerPassesTheConformanceSuite", "and the fixture behind the same guard: see HTTP"},
		{"MUST document breaking changes of schemas in release notes", "specs.TestAChangeThatBreaksClientsIsInTheChangelog specs.TestListOfToolsIsTheGoldenOne", ""},
	}
}
