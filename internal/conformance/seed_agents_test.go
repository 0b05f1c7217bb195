package conformance

// lifeOfATask is the test that leads a task through all tools.
const lifeOfATask = "cmd/gantry.TestATaskIsStartedFollowedSentToStoppedListedAndArchived"

// seedOfAgents is the seed of the agents toolset, line by line.
func seedOfAgents() list {
	return list{
		title: "The seed of the agents toolset",
		intro: "Each requirement of codex-tasks as an MCP server, in the order of the seed.",
		parts: []part{
			{"Summary and goals", agentGoals()},
			{"User stories", agentStories()},
			{"Command surface", agentCommand()},
			{"Tool catalog", agentTools()},
			{"Protocol behavior", agentProtocol()},
			{"Configuration and security", agentConfiguration()},
			{"Logging and observability", agentLogging()},
			{"Non-functional requirements", agentQualities()},
			{"Open questions", agentQuestions()},
			{"Acceptance criteria", agentAcceptance()},
			{"Sessions", agentSessions()},
		},
	}
}

func agentGoals() []clause {
	return []clause{
		{"A long-lived server on standard input and output whose tools drive background agents", lifeOfATask, "the command is `gantry mcp --toolsets agents`; serverInfo.name is codex-tasks"},
		{"A client starts the server once and invokes many actions over one connection", lifeOfATask, ""},
		{"Task metadata and the layout of files are those of the existing command line", lifeOfATask + " cmd/gantry.TestTasksOfOtherProgramsAreListedReadGoneOnWithAndArchived", "the journal is the truth, and the task store a view of it"},
		{"The contract is documented", "specs.TestDocumentOfToolsIsCurrent specs.TestListOfToolsIsTheGoldenOne", ""},
		{"Automated tests invoke a tool of each category", lifeOfATask, ""},
	}
}

func agentStories() []clause {
	return []clause{
		{"A client launches the server in the background and kicks off a worker with task.start", lifeOfATask + " cmd/gantry.TestAStartTellsThatItWaitsForTheThread", ""},
		{"A client streams logs with task.log and receives incremental output", "cmd/gantry.TestALogIsPolledAndStreamed", ""},
		{"The list of tools can be audited, and permissions gate them", "cmd/gantry.TestAgentsHaveTheirOwnServerInfoInstructionsAndTools cmd/gantry.TestAllTasksAreStoppedOnlyWhereThatIsAllowed", ""},
	}
}

func agentCommand() []clause {
	return []clause{
		{"Without arguments the store is ~/.codex/tasks", lifeOfATask, "$CODEX_HOME is honoured"},
		{"--store-root points to another store", "cmd/gantry.TestTheStoreIsWhereCodexHomeOrStoreRootSay", ""},
		{"--config names a TOML file with the settings of the server", "cmd/gantry.TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing cmd/gantry.TestAgentsHaveTheirOwnServerInfoInstructionsAndTools", ""},
		{"--allow-unsafe gates what is restricted by default, such as stopping all tasks", "cmd/gantry.TestAllTasksAreStoppedOnlyWhereThatIsAllowed", "it also lets agents work outside of the root"},
		{"What is for operators goes to standard error, standard output carries messages only", lifeOfATask, "the client of the tests refuses any other line"},
	}
}

func agentTools() []clause {
	return []clause{
		{"task.start takes a prompt and optionally title, config and working_dir, and returns metadata with the thread id", lifeOfATask + " cmd/gantry.TestAConfigurationFileOfTheAgentChoosesItsHome", "listed as task_start: clients refuse dots"},
		{"task.start clones a repository when it is given one", "cmd/gantry.TestATaskStartsInAClone", ""},
		{"task.send takes task_id and prompt and returns updated metadata", lifeOfATask, ""},
		{"task.status returns state, timestamps and a preview of the last result", lifeOfATask + " cmd/gantry.TestAStartWhoseAgentFailsAtOnceSaysWhy", ""},
		{"task.log streams the lines of a task's log, with options for the tail and to follow", "cmd/gantry.TestALogIsPolledAndStreamed", ""},
		{"task.stop stops a running task, or all, and returns what became of each", lifeOfATask + " cmd/gantry.TestAllTasksAreStoppedOnlyWhereThatIsAllowed cmd/gantry.TestAStubbornAgentIsKilled", ""},
		{"task.list lists tasks with filters for the state and archived ones", lifeOfATask + " cmd/gantry.TestTasksOfOtherProgramsAreListedReadGoneOnWithAndArchived", ""},
		{"task.archive archives a task and returns where it is, with force also a running one", lifeOfATask + " cmd/gantry.TestAStubbornAgentIsKilled", ""},
		{"The dotted names are accepted", "cmd/gantry.TestAStartTellsThatItWaitsForTheThread", ""},
		{"Inputs and outputs are JSON as the tools' schemas say", "mcpserver/agenttools.TestInAndOutOfEveryToolAreThoseOfItsSchemas specs.TestSchemasOfToolsKeepTheRules", ""},
	}
}

func agentProtocol() []clause {
	return []clause{
		{"initialize, ping and shutdown are handled as MCP says", "cmd/gantry.TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing cmd/gantry.TestAWorkerGoesOnWithTheSessionsOfAServerThatEnds", ""},
		{"Invocations run at the same time; a long one sends interim events and others are answered meanwhile", "cmd/gantry.TestAStartTellsThatItWaitsForTheThread", ""},
		{"A log that is followed is streamed until the client cancels", "cmd/gantry.TestAStreamEndsWhenItIsCancelledAndTheTaskGoesOn cmd/gantry.TestALogIsPolledAndStreamed",
			"it also ends with the turn; without a progress token, or with wait_ms, the call waits for lines and answers"},
		{"Errors carry codes and messages in MCP's envelope", "mcpserver/tool.TestTheCodesOfAFailureAreInLowerCase mcpserver/tool.TestAFailureNamesTheFieldsThatAreWrong mcpserver.TestToolResultErrors", "a result with isError, whose text is code, message, retryable, hint and details"},
	}
}

func agentConfiguration() []clause {
	return []clause{
		{"[server] store_root, allow_stop_all, log_level and auth_token", "cmd/gantry.TestTheStoreIsWhereCodexHomeOrStoreRootSay cmd/gantry.TestAllTasksAreStoppedOnlyWhereThatIsAllowed cmd/gantry.TestAgentsHaveTheirOwnServerInfoInstructionsAndTools cmd/gantry.TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing", ""},
		{"[tools] enable_archive = false takes a tool out", "cmd/gantry.TestAgentsHaveTheirOwnServerInfoInstructionsAndTools mcpserver/agenttools.TestToolsCanBeLeftOut", "any tool, by its whole name too"},
		{"With auth_token, a request that lacks it gets an unauthorized error", "cmd/gantry.TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing", "it is shown as `_meta[\"gantry/auth_token\"]`, in initialize or in each request"},
		{"CODEX_TASKS_EXIT_AFTER_START is respected", "cmd/gantry.TestTheStartOfATaskCanBeLeftWithoutWaiting", ""},
	}
}

func agentLogging() []clause {
	return []clause{
		{"Diagnostics with times and summaries of invocations go to standard error", "cmd/gantry.TestEveryCallMakesOneRecordAndOneLine", "as JSON lines"},
		{"--verbose logs more", "cmd/gantry.TestConfigurationDocumentSaysWhatTheSettingsAre", ""},
		{"A tool.invoke event stream", "", "not built: the records of calls are that stream, see [the decision](decisions/008-no-tool-invoke-stream.md)"},
	}
}

func agentQualities() []clause {
	return []clause{
		{"Graceful shutdown on SIGINT and SIGTERM with exit code 0", "cmd/gantry.TestAWorkerGoesOnWithTheSessionsOfAServerThatEnds", ""},
		{"Concurrent requests are handled", "cmd/gantry.TestTwoClientsHaveTheSameTasksAndARequestActsOnce", ""},
		{"Compatible with macOS and Linux, on an existing runtime", "", "Go in place of Tokio; CI builds and vets both"},
	}
}

func agentQuestions() []clause {
	return []clause{
		{"Are repository flags exposed?", "cmd/gantry.TestATaskStartsInAClone", "yes: repo_url and repo_ref"},
		{"Is there a rate limit?", "cmd/gantry.TestEveryCallMakesOneRecordAndOneLine", "yes, the guard's, for every toolset"},
		{"How are long histories returned?", "cmd/gantry.TestALogIsPolledAndStreamed", "in pages, by line number, and followed on request"},
		{"Is authentication there?", "cmd/gantry.TestASharedSecretIsAskedOfEveryRequestButInitializeAndPing", "yes, when it is configured"},
	}
}

func agentAcceptance() []clause {
	return []clause{
		{"An automated client calls task.start, task.status and task.log with success", lifeOfATask, ""},
		{"The documentation enumerates the tools and their schemas", "specs.TestDocumentOfToolsIsCurrent", ""},
		{"The existing command line goes on as it is: what it keeps is shown and not changed unasked", "cmd/gantry.TestTasksOfOtherProgramsAreListedReadGoneOnWithAndArchived", ""},
	}
}

func agentSessions() []clause {
	return []clause{
		{"kill -9 of the server in the middle of a turn: the agent finishes, the transcript is whole, the queued follow-up starts when a server is back",
			"cmd/gantry.TestTheAgentGoesOnWhenTheServerIsKilledAndTheNextOneHasAllOfIt agents/sessions.TestAnAgentGoesOnWithoutAProgramAndTheNextOneGoesOnWithTheTurn agents/sessions.TestAFeedGoesOnFromAnywhere", ""},
		{"A server that ends leaves its sessions to a worker", "cmd/gantry.TestAWorkerGoesOnWithTheSessionsOfAServerThatEnds", ""},
		{"Two clients in two processes see the same sessions, cannot send to one at once, and each request_id acts once",
			"cmd/gantry.TestTwoClientsHaveTheSameTasksAndARequestActsOnce cmd/gantry.TestTwoClientsThatGoOnWithOneForeignTaskMakeOneSession agents/sessions.TestOneTurnAtATimeAcrossPrograms agents/sessions.TestAKeyActsOnce", ""},
		{"One message is queued, replaced by the next, taken back, and dropped when the turn fails or is stopped",
			"agents/sessions.TestAQueuedMessageIsReplacedTakenBackAndDropped runs.TestOneMessageIsQueuedAndBecomesATurnWhenTheTurnIsComplete runs.TestAQueuedMessageIsDroppedWhenTheTurnFailsOrIsStopped runs.TestAQueuedMessageCanBeTakenBack", ""},
		{"A stop is SIGINT, then SIGTERM, then SIGKILL, and leaves a session that can be gone on with", "agents/sessions.TestAStopInterruptsThenKills runs/local.TestCommandsAreAnsweredWhileANodeWorks internal/proc.TestAnInterruptIsHeardByTheProcessAndEndsNothingItself", ""},
		{"Prompts, titles and paths that mean harm do none", "cmd/gantry.TestHostilePromptsTitlesAndPathsDoNoHarm cmd/gantry.TestAThreadThatIsAPathHasNoFolder agents/sessions.TestWhatCannotBeStartedIsRefusedAndLeavesNothing", ""},
		{"Secrets that an agent tells are masked", "cmd/gantry.TestWhatAnAgentSaysOfItsSecretsIsMasked", ""},
		{"The board and the agents toolset show one session", "cmd/gantry.TestBothToolsetsShowOneSession", ""},
		{"The status of a task is a resource that can be subscribed to", "cmd/gantry.TestTheStatusOfATaskIsAResource", ""},
		{"codex and codex-reply work for those who ask for them", "cmd/gantry.TestAgentsHaveTheirOwnServerInfoInstructionsAndTools", "off by default"},
	}
}
