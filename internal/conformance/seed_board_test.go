package conformance

// scriptOfBoard is what people type.
const scriptOfBoard = "cmd/gantry/testdata/script/board.txtar"

// seedOfBoard is the seed of the board toolset: each requirement with its scenarios.
func seedOfBoard() list {
	return list{
		title: "The seed of the board toolset",
		intro: "Each requirement with its scenarios, in the order of the seed; beneath them what a requirement says beyond its scenarios.",
		parts: []part{
			{"MCP task tool set", boardToolClauses()},
			{"Attempt terminology and identifiers", attemptTermClauses()},
			{"list_tasks provides attempt summary", boardListClauses()},
			{"list_task_attempts returns attempt details", attemptListClauses()},
			{"follow_up targeting", targetClauses()},
			{"Attempt status tool", attemptStatusClauses()},
			{"Attempt log tail tool", attemptLogClauses()},
			{"Attempt changes snapshot tool", attemptChangeClauses()},
			{"Schema field documentation", fieldClauses()},
			{"Workspace context data", contextClauses()},
			{"MCP follow-up tool", followUpClauses()},
			{"Agent-guided tool descriptions", descriptionClauses()},
			{"Mode-specific schemas for mode-specific requirements", modeClauses()},
			{"Mutual exclusion for ambiguous targeting", exclusionClauses()},
			{"Normalized pagination semantics for tailing and history", paginationClauses()},
			{"Executor discovery tool", executorClauses()},
			{"Stop attempt tool", stopClauses()},
			{"Session transcript tail tool", transcriptClauses()},
			{"Bounded attempt artifact retrieval tools", retrievalClauses()},
			{"Actionable MCP error envelope", envelopeClauses()},
			{"request_id idempotency for mutating MCP tools", requestIDClauses()},
			{"Command line", boardCommandClauses()},
		},
	}
}

func boardToolClauses() []clause {
	return []clause{
		{"Scenario: Tools are discoverable", "cmd/gantry.TestBoardToolsAreDiscoverable", "19 tools: the 14 of this requirement and the five of later ones"},
		{"Names and members are those of the seed", "specs.TestBoardToolsAreThoseOfTheSeedWithItsNames mcpserver/boardtools.TestInAndOutOfEveryToolAreThoseOfItsSchemas cmd/gantry.TestEveryBoardToolAnswersAsItsSchemaSays",
			"what is added is optional: paging of lists, `model`, `prompt` of an attempt, `old_path`, `old_mode`, `new_mode`, `kept`"},
		{"get_context is there only when workspace context is available", "cmd/gantry.TestBoardContextReturnsUnifiedAttemptData", "it is always listed, since a list that depends on the folder cannot be cached, and answers `no_context` elsewhere"},
		{"Tasks are kept, changed and deleted", "cmd/gantry.TestBoardTasksAreKept cmd/gantry.TestBoardDeletingLosesNoWork", "through kill -9 too"},
		{"Over HTTP an attempt is of the token that started it", "cmd/gantry.TestBoardAttemptsAreOfTheTokenThatStartedThem", "for another one, and for the local user, there is none; projects and tasks are for all"},
		{"A list is paged to its end", "cmd/gantry.TestBoardListsArePagedToTheirEnd mcpserver/boardtools.TestAListIsPagedToItsEndAndStaysSmall", "without a limit a page has at most 50 items and 8 KB"},
	}
}

func attemptTermClauses() []clause {
	return []clause{
		{"Scenario: Attempt id is usable for follow-up", "cmd/gantry.TestBoardFollowUpByAttemptID", ""},
		{"Scenario: No workspace_id alias in MCP schemas", "cmd/gantry.TestBoardNoWorkspaceIDInSchemas specs.TestBoardIdsAreUUIDsAndTimesRFC3339", ""},
		{"Ids are UUID strings, timestamps RFC 3339 strings", "specs.TestBoardIdsAreUUIDsAndTimesRFC3339 cmd/gantry.TestEveryBoardToolAnswersAsItsSchemaSays", ""},
	}
}

func boardListClauses() []clause {
	return []clause{
		{"Scenario: Task list includes latest attempt info", "cmd/gantry.TestBoardTaskListIncludesLatestAttempt", ""},
		{"Optional status and limit filters", "cmd/gantry.TestBoardTaskListIncludesLatestAttempt cmd/gantry.TestBoardListsArePagedToTheirEnd", ""},
	}
}

func attemptListClauses() []clause {
	return []clause{
		{"Scenario: Attempts returned with session summary", "cmd/gantry.TestBoardAttemptsAreListedWithSessionSummary", ""},
		{"Scenario: Attempt has no sessions", "cmd/gantry.TestBoardAttemptWithoutSessions", "an attempt is there with its session or not at all; without one it is when the session's run is gone"},
	}
}

func targetClauses() []clause {
	return []clause{{"Scenario: Follow-up by attempt id", "cmd/gantry.TestBoardFollowUpByAttemptID", ""}}
}

func attemptStatusClauses() []clause {
	return []clause{
		{"Scenario: Attempt has no sessions or processes", "cmd/gantry.TestBoardAttemptWithoutSessions", ""},
		{"Scenario: Attempt is running", "cmd/gantry.TestBoardAttemptIsRunning", ""},
		{"Scenario: Attempt is failed", "cmd/gantry.TestBoardAttemptIsFailed", ""},
	}
}

func attemptLogClauses() []clause {
	return []clause{
		{"Scenario: Default tail load", "cmd/gantry.TestBoardLogsTailTheNewestEntries mcpserver/boardtools.TestLimitsOfLogsAreDefaultsAndCaps", ""},
		{"Scenario: Load older history", "cmd/gantry.TestBoardLogsPageToOlderEntries", "`next_cursor` is null when nothing older exists"},
		{"Scenario: No process yields empty history", "cmd/gantry.TestBoardAttemptWithoutSessions", ""},
		{"The log of a turn under way grows", "cmd/gantry.TestBoardLogsOfATurnUnderWayGrow cmd/gantry.TestBoardKilledServerLosesNothing", ""},
	}
}

func attemptChangeClauses() []clause {
	const guard = "cmd/gantry.TestBoardGuardBlocksTheFileListAndForceLiftsIt"
	return []clause{
		{"Scenario: Guard blocks file list", guard, ""},
		{"Scenario: Force bypasses guard", guard, "the list is paged: a page ends before 60 KB"},
		{"Paths of several repositories are unambiguous", "cmd/gantry.TestBoardPathsOfTwoReposBeginWithTheirNames", ""},
		{"Whatever git holds is shown", "cmd/gantry.TestBoardShowsEveryKindOfChange", "binaries, renames, modes, links, submodules, names with a line end, 100 MB"},
		{"Nothing of the repository runs", "cmd/gantry.TestBoardHooksAndFiltersOfTheRepositoryNeverRun", ""},
	}
}

func fieldClauses() []clause {
	return []clause{{"Scenario: Field docs are present", "cmd/gantry.TestBoardEveryFieldIsDescribed specs.TestSchemasOfToolsKeepTheRules", "in requests and results of all tools"}}
}

func contextClauses() []clause {
	return []clause{{"Scenario: Context returns unified attempt data", "cmd/gantry.TestBoardContextReturnsUnifiedAttemptData", ""}}
}

func followUpClauses() []clause {
	return []clause{
		{"Scenario: Send follow-up by attempt id", "cmd/gantry.TestBoardFollowUpByAttemptID cmd/gantry.TestBoardTheRealCodexWorksOnATask", ""},
		{"Scenario: Send follow-up by session id", "cmd/gantry.TestBoardFollowUpBySessionID", ""},
		{"Scenario: Queue follow-up by attempt id", "cmd/gantry.TestBoardQueueByAttemptID cmd/gantry.TestBoardTheRealCodexWorksOnATask", ""},
		{"Scenario: Queue follow-up by session id", "cmd/gantry.TestBoardQueueBySessionID", ""},
		{"Scenario: Cancel queued follow-up", "cmd/gantry.TestBoardCancelsAQueuedFollowUp cmd/gantry.TestBoardTheRealCodexWorksOnATask", ""},
		{"Scenario: Attempt has no sessions", "cmd/gantry.TestBoardAttemptWithoutSessions", ""},
		{"The queue outlives the server; a turn that fails discards it", "cmd/gantry.TestBoardQueueSurvivesTheServer cmd/gantry.TestBoardAFailedTurnDiscardsTheQueue", ""},
		{"Only one turn at a time", "cmd/gantry.TestBoardTwoClientsCannotSendAtOnce cmd/gantry.TestBoardHostileCrowdsActOnce", "`run_locked`, retryable, across processes"},
	}
}

func descriptionClauses() []clause {
	return []clause{{"Scenario: Tool description contains guidance headings", "cmd/gantry.TestBoardDescriptionsHaveTheHeadings specs.TestDescriptionsHaveFiveHeadings", "all 19 have all five"}}
}

func modeClauses() []clause {
	return []clause{
		{"Scenario: Follow-up send requires prompt by schema", "cmd/gantry.TestBoardFollowUpSaysInItsSchemaThatSendNeedsAPrompt",
			"under `dependentSchemas`, one level below the root: model APIs refuse tools whose root is a union"},
		{"Clients take such a schema", "cmd/gantry.TestBoardSchemasAreTakenByTheInspector cmd/gantry.TestBoardSchemasAreTakenByTheRealCodex", ""},
	}
}

func exclusionClauses() []clause {
	return []clause{{"Scenario: Reject dual targeting", "cmd/gantry.TestBoardRejectsDualTargeting mcpserver/boardtools.TestExactlyOneTargetIsTaken",
		"`ambiguous_target` for both, `missing_required` for none"}}
}

func paginationClauses() []clause {
	return []clause{
		{"Scenario: Reject mixed pagination modes", "cmd/gantry.TestBoardLogsRejectMixedPagination", "`mixed_pagination`"},
		{"after_entry_index returns only what is newer, and skips nothing", "cmd/gantry.TestBoardLogsReadOnAfterAnIndex", "ascending, with `next_after`"},
	}
}

func executorClauses() []clause {
	return []clause{{"Scenario: Executor identifiers are usable", "cmd/gantry.TestBoardExecutorIdentifiersAreUsable", "those that work on the machine are listed"}}
}

func stopClauses() []clause {
	return []clause{{"Scenario: Stop a running attempt", "cmd/gantry.TestBoardStopsARunningAttempt", "gently and with force; a second stop succeeds"}}
}

func transcriptClauses() []clause {
	return []clause{{"Scenario: Tail transcript for latest session in attempt",
		"cmd/gantry.TestBoardTailsTheTranscriptOfTheLatestSession mcpserver/boardtools.TestATranscriptIsPagedFromItsEnd mcpserver/boardtools.TestALongTranscriptStaysInBounds", ""}}
}

func retrievalClauses() []clause {
	return []clause{
		{"Scenario: Artifact retrieval is size-bounded", "cmd/gantry.TestBoardArtifactsAreSizeBounded mcpserver/boardtools.TestEveryReasonToBlockHasAHint", ""},
		{"Nothing outside the workspace is read", "cmd/gantry.TestBoardHostilePathsDoNotLeaveTheWorktree", ""},
	}
}

func envelopeClauses() []clause {
	return []clause{
		{"Scenario: Missing session yields actionable hint", "cmd/gantry.TestBoardAttemptWithoutSessions", "`no_session_yet`"},
		{"Every failure has a code, a hint, and whether to try again", "cmd/gantry.TestBoardHostileArgumentsAreRefused mcpserver/tool.TestTheCodesOfAFailureAreInLowerCase mcpserver/tool.TestAFailureNamesTheFieldsThatAreWrong",
			"as JSON in the text of a result with isError, for clients hold structured content against the output schema"},
	}
}

func requestIDClauses() []clause {
	const once = "cmd/gantry.TestBoardRepeatedRequestsActOnce"
	return []clause{
		{"Scenario: create_task retry returns same task id", once, "in another process too"},
		{"Scenario: start_task_attempt retry returns same attempt id", once, ""},
		{"Scenario: request_id reuse with different payload is rejected", once, "`idempotency_conflict`; the target is part of the payload"},
		{"follow_up send and queue are safe to repeat", once + " cmd/gantry.TestBoardRepeatedQueueReturnsTheSameMessage cmd/gantry.TestBoardHostileCrowdsActOnce", ""},
	}
}

func boardCommandClauses() []clause {
	return []clause{
		{"People add projects, see the board, look at attempts and talk with sessions", scriptOfBoard, "`gantry project`, `gantry board`, `gantry attempt`, `gantry session`"},
		{"Titles and branches are data, whatever they look like", "cmd/gantry.TestBoardHostileTitlesAndBranchesDoNoHarm", ""},
		{"What an agent writes is bounded, and secrets in it are masked", "cmd/gantry.TestBoardHostileOutputOfAnAgentIsKeptInBounds", ""},
	}
}
