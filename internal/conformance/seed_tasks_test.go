package conformance

// scriptOfTasks is what people type.
const scriptOfTasks = "cmd/gantry/testdata/script/tasks.txtar"

// seedOfTasks is the seed of the tasks toolset, line by line.
func seedOfTasks() list {
	return list{
		title: "The seed of the tasks toolset",
		intro: "Each field, code, default and limit, in the order of the seed.",
		parts: []part{
			{"Protocol hygiene", protocolClauses()},
			{"Tools", toolClauses()},
			{"Permissioning (allowlist)", allowlistClauses()},
			{"Process and output model", processClauses()},
			{"list_tasks", listTasksClauses()},
			{"status", statusClauses()},
			{"task_start", taskStartClauses()},
			{"Error taxonomy", errorClauses()},
			{"task_status", taskStatusClauses()},
			{"task_output", taskOutputClauses()},
			{"task_stop", taskStopClauses()},
			{"Resources (optional)", resourceClauses()},
			{"Server", serverClauses()},
			{"Job runner", runnerClauses()},
			{"Security and limits", limitClauses()},
			{"Test checklist", checklistClauses()},
			{"Command line", commandLineClauses()},
		},
	}
}

func protocolClauses() []clause {
	return []clause{
		{"Nothing is written to standard output before the server is spoken to", "cmd/gantry.TestNothingIsWrittenBeforeTheFirstRequest", ""},
		{"While it serves, standard output carries messages only, and what is for people goes to standard error",
			"cmd/gantry.TestALongTaskIsStartedFollowedAndStopped cmd/gantry.TestMalformedLinesAreAnsweredAndTheNextCallWorks",
			"the client of the tests refuses any other line, in every test of `cmd/gantry`"},
		{"It serves until its input ends", "cmd/gantry.TestEveryAcceptedCallIsAnsweredAtTheEnd cmd/gantry.TestNothingIsWrittenBeforeTheFirstRequest", ""},
		{"The MCP Inspector can drive it", "cmd/gantry.TestTheInspectorLeadsALaunchToItsPullRequest", "with the launch toolset, over the same transport"},
		{"The library is rmcp on tokio", "", "Gantry is Go: the official Go SDK, with [a transport of its own](decisions/001-own-stdio-transport.md)"},
	}
}

func toolClauses() []clause {
	return []clause{
		{"There are six tools: list_tasks, status, task_start, task_status, task_output, task_stop", "specs.TestTasksToolsAreThoseOfTheSeedInItsOrder mcpserver/tasktools.TestInAndOutOfEveryToolAreThoseOfItsSchemas", ""},
		{"Arguments and results have the seed's names, and the seed's required ones", "specs.TestTasksArgumentsAndResultsHaveTheNamesOfTheSeed specs.TestTasksItemsHaveTheNamesOfTheSeed",
			"what is added is optional: paging, `keep`, `wait_for_exit_seconds`, idempotency keys, `signal`, `error`, `truncated`, `next_from`"},
		{"Every result is as its schema says, as structured content and as the text of the one content block", "cmd/gantry.TestEveryTaskToolAnswersAsItsSchemaSays mcpserver.TestAResultIsStructuredAndTheSameAsText",
			"the seed has the text alone"},
		{"unique_name is unique, and refers to the same task everywhere", "targets.TestUniqueNamesAreUniqueAndFindTheirTarget targets.TestUniqueNamesAreThoseOfTheFacts",
			"a plain name is accepted where one task has it"},
		{"Names that clash get a suffix of their runner, such as build-m and build-n", "cmd/gantry.TestListTasksSaysEverythingOfEveryTask targets.TestUniqueNamesAreThoseOfTheFacts", ""},
		{"Logging notifications later", "cmd/gantry.TestTheLatestLinesAreToldWhileTaskStartWaits", "progress notifications carry the latest lines while task_start waits"},
	}
}

func allowlistClauses() []clause {
	return []clause{
		{"The allowlist is `~/.dela/allowlist.toml`, shared with the command line", "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed targets.TestTheFirstAllowlistThatExistsCounts",
			"where it does not exist, `$XDG_CONFIG_HOME/dela` and then `$XDG_CONFIG_HOME/gantry` are looked into"},
		{"task_start evaluates it; a change holds at once", "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed", ""},
		{"A denial wins over everything", "targets.TestTheAllowlistDecidesAsTheFactsSay targets.TestADenyCoversAFolderOfLinks targets.TestLinksDoNotFoolTheAllowlist " + scriptOfTasks, ""},
		{"Then a directory, then a file, then a task allows", "targets.TestTheAllowlistDecidesAsTheFactsSay targets.TestTheEntryForATargetAllowsIt", "what they allow adds up, so their order cannot be seen"},
		{"Without a hit the task is denied with NotAllowlisted", "targets.TestTheAllowlistDecidesAsTheFactsSay targets.TestRefusalsSpeakTheSeedsSentences " + scriptOfTasks, ""},
		{"People maintain it with `allow` commands", scriptOfTasks + " targets.TestAnEditKeepsCommentsAndOrder", "`gantry allow`, `gantry deny` and `gantry allowlist`"},
		{"No tool writes it", "cmd/gantry.TestNoToolChangesTheAllowlist", ""},
	}
}

func processClauses() []clause {
	return []clause{
		{"A started task is a process of the system, known by its own pid", "targets/jobs.TestALongTargetIsLeftRunningUnderItsOwnPID cmd/gantry.TestInstancesOfATaskAreToldApart", "never the pid of its supervisor"},
		{"task_start captures for one second", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped specs.TestTasksDefaultsAndLimitsAreThoseOfTheSeed", ""},
		{"How long can be configured", "cmd/gantry.TestTheCaptureIsConfigurable", "and with each call: `wait_for_exit_seconds`, 0 to 50"},
		{"A task that ends in time is answered for with state exited, exit_code and its output", "cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole",
			"the output is `initial_output`, as the seed's data type and examples have it, not `output`, as one of its sentences does"},
		{"One that goes on is answered for with state running, pid and its output so far", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped targets/jobs.TestALongTargetIsLeftRunningUnderItsOwnPID", ""},
		{"Output is kept for each task, bounded", "internal/proc.TestTheLastBytesAreKeptAtStableOffsets internal/proc.TestLoadCostsNeitherMemoryNorDisk", "on disk, so that it outlives the server"},
		{"Later, output is paged with a byte cursor `from`", "targets/jobs.TestOutputIsReadOnFromWhereAMessageEnded cmd/gantry.TestOutputIsTailedAndPaged", ""},
		{"Jobs that ended are collected after a time", "targets/jobs.TestOldOutputIsRemovedButNotWhatNobodyHasRecorded targets/jobs.TestRunningJobsAreListedFirstAndEndedOnesForAnHour internal/proc.TestCollectForgetsTheOldestThatEnded",
			"by number (`tasks.keep_finished`) and not by age, which bounds the disk; they are listed for an hour"},
	}
}

func listTasksClauses() []clause {
	const all = "cmd/gantry.TestListTasksSaysEverythingOfEveryTask"
	return []clause{
		{"unique_name", all, ""},
		{"source_name, as the file has it", all + " targets.TestEveryRunnerListsItsFixture", ""},
		{"command, whole", all + " targets.TestEveryRunnerListsItsFixture", ""},
		{"runner, by its short name", all + " targets.TestEveryRunnerHasAKindAndItsToolsAHint", ""},
		{"runner_available", all + " targets.TestAllRunnersAreListedWhenNoneIsInstalled targets.TestCMakeAndTravisAreShownAndNeverStarted", ""},
		{"allowlisted", all + " targets.TestTheAllowlistDecidesAsTheFactsSay", ""},
		{"source_path and file_path", all, "the seed has both names for one thing, and so have the results; relative to the root, which the seed allows"},
		{"description, where there is one", all + " targets.TestEveryRunnerListsItsFixture", ""},
		{"The argument runner filters, others are not shown", all + " targets.TestTheRunnerFilterIsExact", ""},
		{"Every kind of file is found, in a total order", "targets.TestEveryRunnerListsItsFixture targets.TestTwoListingsAreTheSame targets.TestABrokenFileIsNamedAndHidesNothing", ""},
	}
}

func statusClauses() []clause {
	return []clause{
		{"All running tasks, whatever their name, with pids", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped cmd/gantry.TestFiftyTasksRunAtOnce", ""},
		{"An empty list where nothing was started", "cmd/gantry.TestTheRevisionOfTheSeedIsSpoken", ""},
		{"It changes as jobs start and end", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped targets/jobs.TestRunningJobsAreListedFirstAndEndedOnesForAnHour",
			"those that ended in the last hour follow the running ones, so that the end of a task can be seen at all; `state` tells them apart"},
	}
}

func taskStartClauses() []clause {
	const quick, reach = "cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole", "cmd/gantry.TestEnvironmentAndFolderOfACallReachTheTask"
	return []clause{
		{"unique_name is required", "specs.TestTasksArgumentsAndResultsHaveTheNamesOfTheSeed cmd/gantry.TestHostileTaskCallsAreRefusedAndStartNothing", ""},
		{"args, each an argument of the process as it is", reach + " cmd/gantry.TestArgumentsReachTheTaskAsTheyAre targets.TestArgumentsAreElementsOfAnArgv",
			"options need the allowlist entry's consent (`options = true`), since with them make and others do anything"},
		{"env, added to the environment", reach + " targets.TestADecisionIsWholeAndExact", "variables that choose what is loaded or run are refused by name"},
		{"cwd, a folder relative or absolute", reach, ""},
		{"state is exited, running or failed", "specs.TestTasksDefaultsAndLimitsAreThoseOfTheSeed cmd/gantry.TestAStartTellsOfAFailure", ""},
		{"pid while it runs, and only then", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped " + quick, ""},
		{"exit_code once it has ended", quick, "a task that a signal ended has no code: `signal` says which"},
		{"initial_output, standard output and error together", "cmd/gantry.TestResultsAreThoseOfTheSeedsExamples " + quick, "the newest 8,192 bytes; `truncated` says that there is more"},
		{"The example of success", "cmd/gantry.TestResultsAreThoseOfTheSeedsExamples", ""},
		{"The example of a task that goes on", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped", ""},
		{"Another exit code than 0 is still exited", quick + " targets/jobs.TestAQuickTargetIsAnsweredForWithItsOutputAndItsCode", "the seed leaves open when a task has failed: here it never started, was lost, or was ended by a signal"},
	}
}

func errorClauses() []clause {
	const refused = "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed"
	return []clause{
		{"-32010, \"Task '…' is not allowlisted for MCP execution\"", refused + " targets.TestRefusalsSpeakTheSeedsSentences", ""},
		{"… and \"Ask a human to grant MCP access to this task\"", refused + " targets.TestRefusalsSpeakTheSeedsSentences", "where there is no allowlist at all the sentence goes on with how to make one"},
		{"-32011, \"Runner '…' is not available for task '…'\"", "cmd/gantry.TestARunnerThatIsMissingIsNamedWithHowToInstallIt " + refused, ""},
		{"… and how to install it on macOS and Ubuntu", "cmd/gantry.TestARunnerThatIsMissingIsNamedWithHowToInstallIt targets.TestEveryRunnerHasAKindAndItsToolsAHint", ""},
		{"-32012, \"Task '…' not found\" and \"Use 'list_tasks' to see available tasks\"", refused + " targets.TestAnUnknownNameIsNotFoundInTheWordsOfTheSeed", "also for a name that several tasks have, and for a pid that is no job's"},
		{"-32603, \"Failed to start process: …\" and \"Check if the command and arguments are valid\"", "cmd/gantry.TestAProcessThatCannotBeStartedIsAnInternalError targets/jobs.TestAProgramThatCannotBeStartedIsSaidSoAndRecorded", ""},
		{"The numbers are the registry's", "specs.TestNumbersOfTheSeedAreInTheRegistry", ""},
		{"Errors are JSON-RPC errors with code, message and data", refused + " mcpserver.TestJSONRPCErrors",
			"`data` is an object and not a sentence, as in every toolset: `error_code`, `retryable`, `details`, and the seed's sentence as `hint`"},
		{"Checks come in their order: found, allowlisted, runner, folder", "targets.TestChecksComeInTheirOrder", ""},
	}
}

func taskStatusClauses() []clause {
	const apart = "cmd/gantry.TestInstancesOfATaskAreToldApart"
	return []clause{
		{"The instances of one unique_name, each with its pid, where it was started with different arguments", apart, ""},
		{"An empty list where there is none", "cmd/gantry.TestResultsAreThoseOfTheSeedsExamples targets/jobs.TestRunningJobsAreListedFirstAndEndedOnesForAnHour", ""},
		{"pid, unique_name, command and args", apart + " cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole", ""},
		{"state: running, exited or failed", apart + " cmd/gantry.TestAStopThatIsHeededTellsTheCode targets/jobs.TestASignalIsAFailureThatSaysWhich", "those that ended stay for an hour"},
		{"started_at", "cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole", "seconds since the start, as the seed's example of 120 reads; `started_time` is the time itself"},
		{"A name that no task has is refused", "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed targets/jobs.TestRunningJobsAreListedFirstAndEndedOnesForAnHour", "the seed leaves it open"},
	}
}

func taskOutputClauses() []clause {
	const exact, tailed = "cmd/gantry.TestResultsAreThoseOfTheSeedsExamples", "cmd/gantry.TestOutputIsTailedAndPaged"
	return []clause{
		{"pid and the last lines, oldest first", exact + " " + tailed + " internal/proc.TestTheTailIsTheLastLines", ""},
		{"200 lines where the caller does not say", tailed + " specs.TestTasksDefaultsAndLimitsAreThoseOfTheSeed targets/jobs.TestOutputIsTheLastLinesWithinOneMessage", ""},
		{"lines is how many", "targets/jobs.TestOutputIsTheLastLinesWithinOneMessage cmd/gantry.TestALongTaskIsStartedFollowedAndStopped", ""},
		{"show_truncation says in the output what is left out, and nothing where all is there", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped " + exact, "a line in front; it is false by default"},
		{"total_lines", exact + " " + tailed + " internal/proc.TestExtentCountsWhatIsGone", "of all that was written, also of what is gone"},
		{"total_bytes", exact + " " + tailed + " internal/proc.TestExtentCountsWhatIsGone", "likewise"},
		{"truncated", exact + " " + tailed, "there is older output than these lines"},
		{"buffer_full", exact + " " + tailed + " cmd/gantry.TestFiveMegabytesOfOutputAreKept", "older output is left out whatever is asked for"},
		{"A pid that is no job's is refused", "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed", "with -32012, the number for what is not found"},
	}
}

func taskStopClauses() []clause {
	const long, heeds, says = "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped", "cmd/gantry.TestAStopThatIsHeededTellsTheCode", "targets/jobs.TestAStopSaysHowItWent"
	return []clause{
		{"SIGTERM, a grace period, then SIGKILL", long + " " + says + " internal/proc.TestStopEndsTheWholeTree", "to all that the task has started, also what left its group"},
		{"The grace is 5 seconds where the caller does not say", long + " specs.TestTasksDefaultsAndLimitsAreThoseOfTheSeed", ""},
		{"grace_period is how long", long + " " + says, "0 to 300, and fractions"},
		{"status graceful: it ended in time", heeds + " " + says, ""},
		{"status killed: it did not", long + " " + says, ""},
		{"status failed: it survives", "targets/jobs.TestEachWayToStopHasItsSentence specs.TestTasksDefaultsAndLimitsAreThoseOfTheSeed", ""},
		{"message, \"Process stopped gracefully with exit code 0\"", heeds + " targets/jobs.TestEachWayToStopHasItsSentence", "or \"with signal SIGTERM\", where that ended it"},
		{"grace_period_used", heeds + " " + long, "the period that was given, as the example has it"},
		{"A job that has ended cannot be stopped", long + " " + says, "ILLEGAL_STATE; the seed leaves it open"},
	}
}

func resourceClauses() []clause {
	return []clause{
		{"`job://<pid>` is the job's status", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped", ""},
		{"`joblog://<pid>?from=<n>` pages its output", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped", "both can be subscribed to"},
	}
}

func serverClauses() []clause {
	return []clause{
		{"A server of tasks is named dela-mcp and has a version", "cmd/gantry.TestAServerOfTasksAloneIsCalledAsTheSeedSays cmd/gantry.TestTheRevisionOfTheSeedIsSpoken", "one of several toolsets is named gantry"},
		{"It speaks revision 2024-11-05", "cmd/gantry.TestTheRevisionOfTheSeedIsSpoken mcpserver.TestEveryEraWorksOverStdio", "to who asks for it; to others the newer ones"},
		{"It has the capability tools", "cmd/gantry.TestTheRevisionOfTheSeedIsSpoken", "and resources"},
		{"Its instructions tell of the capture, of the pids and of the allowlist", "cmd/gantry.TestAServerOfTasksAloneIsCalledAsTheSeedSays mcpserver/tasktools.TestInstructionsNameTheWaitAndItsDefault", "in other words, since there is more to say"},
	}
}

func runnerClauses() []clause {
	return []clause{
		{"The standard input of a task is closed", "cmd/gantry.TestATaskReadsNothingFromItsInput internal/proc.TestNothingIsInheritedInSilence", "it is /dev/null, which ends at once"},
		{"Standard output and error are captured", "cmd/gantry.TestResultsAreThoseOfTheSeedsExamples", ""},
		{"started_at, command, unique_name, source_name, args, cwd and file_path are recorded with a job", "cmd/gantry.TestWhatAJobIsIsRecorded", "tools return all but source_name and file_path, which list_tasks has"},
		{"The end of a job in the background is noticed", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped targets/jobs.TestAJobThatIsKeptIsAdoptedByTheNextProgram", "and recorded, also when no server runs"},
		{"A running job goes to exited with its code, or to failed with a reason", "internal/proc.TestTheStateIsHowItEnded targets/jobs.TestASignalIsAFailureThatSaysWhich targets/jobs.TestALostProcessIsAFailure", ""},
	}
}

func limitClauses() []clause {
	const hostile = "cmd/gantry.TestHostileTaskCallsAreRefusedAndStartNothing"
	return []clause{
		{"Deny by default", scriptOfTasks + " targets.TestTheFirstAllowlistThatExistsCounts targets.TestRefusalsSpeakTheSeedsSentences", ""},
		{"1,000 lines of a task are returned at most", "cmd/gantry.TestAThousandLinesAreReturnedAtMost",
			"with `from`, all that is kept can be read"},
		{"5 MB of a task are kept", "cmd/gantry.TestFiveMegabytesOfOutputAreKept internal/proc.TestTheLastBytesAreKeptAtStableOffsets", "5 MiB, and up to a quarter more until the oldest piece is dropped"},
		{"Both are configurable", "cmd/gantry.TestTheCaptureIsConfigurable cmd/gantry.TestEverySettingIsAKeyAndAFlag", ""},
		{"A message holds 8 KB of output", "cmd/gantry.TestFiveMegabytesOfOutputAreKept targets/jobs.TestOutputIsTheLastLinesWithinOneMessage targets/jobs.TestOutputThatIsNoTextFitsAMessageAndIsText", ""},
		{"50 jobs at once, further ones are refused", "cmd/gantry.TestFiftyTasksRunAtOnce", "with TOO_MANY_JOBS, -32603, retryable"},
		{"How many is configurable", "cmd/gantry.TestNoMoreTasksRunAtOnceThanConfigured targets/jobs.TestNoMoreJobsRunAtOnceThanMay", ""},
		{"cwd is under the root, without a way up", hostile + " targets.TestAFolderOutsideOfTheRootIsRefused", "after links are followed"},
	}
}

func checklistClauses() []clause {
	const all, refused, long = "cmd/gantry.TestListTasksSaysEverythingOfEveryTask", "cmd/gantry.TestTasksThatMayNotBeStartedAreRefusedInTheWordsOfTheSeed", "cmd/gantry.TestALongTaskIsStartedFollowedAndStopped"
	return []clause{
		{"Arrange: a Makefile and a package.json with names in common, a runner that is missing", all + " cmd/gantry.TestARunnerThatIsMissingIsNamedWithHowToInstallIt", "one project for all of these tests, against the built program"},
		{"Act: list_tasks; a task that ends at once", "cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole", ""},
		{"Act: one that goes on, then status, task_status, task_output, task_stop", long, "in both styles of the protocol"},
		{"Assert: denials", refused + " " + scriptOfTasks, ""},
		{"Assert: the fields of tasks", all, ""},
		{"Assert: within the capture, code and output", "cmd/gantry.TestATaskThatEndsWithinTheCaptureIsAnsweredForWhole", ""},
		{"Assert: a long one, pid and output so far", long, ""},
		{"Assert: the tail of the output", "cmd/gantry.TestOutputIsTailedAndPaged", ""},
		{"Assert: a graceful stop", "cmd/gantry.TestAStopThatIsHeededTellsTheCode " + long, ""},
	}
}

func commandLineClauses() []clause {
	return []clause{
		{"`mcp --cwd <dir>` serves the folder", "cmd/gantry.TestTheFolderOfTheServerIsCwdOrTheCurrentOne", "`gantry mcp --toolsets=tasks`; `--root` is the same"},
		{"The default is the current folder", "cmd/gantry.TestTheFolderOfTheServerIsCwdOrTheCurrentOne", ""},
	}
}
