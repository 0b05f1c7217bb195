package conformance

// seedOfProtocol is what the protocol's extension for tasks and its prompts and completion ask
// of a server.
func seedOfProtocol() list {
	return list{
		title: "Handles, prompts, completion",
		intro: "The extension `io.modelcontextprotocol/tasks` as its specification says, and what else a client finds: [handles](mcp-tasks.md).",
		parts: []part{
			{"The extension for tasks", handleClauses()},
			{"Prompts, completion, waiting", promptClauses()},
		},
	}
}

func handleClauses() []clause {
	const (
		launch = "cmd/gantry.TestALaunchIsATaskForClientsThatHoldThem"
		others = "cmd/gantry.TestOtherClientsGetTheResultOfTheTool"
		owner  = "cmd/gantry.TestATaskIsItsOwnersAndIsCountedOnce"
		suite  = "internal/mcpconformance.TestTheConformanceSuitePasses"
	)
	return []clause{
		{"Every scenario of the conformance suite for the extension passes", suite, "against the fixture, behind the same wire, front and guard; the suite leaves out status notifications"},
		{"A CreateTaskResult goes to a client that declares the extension with the request, and to no other", launch + " " + others, "clients of the older revisions cannot declare it"},
		{"It is sent when tasks/get would answer, and tells neither result nor error", launch, ""},
		{"Without the declaration the methods are refused with -32021", others, ""},
		{"An unknown task is -32602; tasks/list and tasks/result are -32601", launch, ""},
		{"A launch that pauses is input_required, with one question whose key no other question has", launch + " cmd/gantry.TestAHandleOutlivesItsServer", "working, for clients that cannot ask their user"},
		{"tasks/update answers it; what is unknown, declined or answered already does nothing", launch, ""},
		{"completed inlines what the tool would have returned", launch + " cmd/gantry.TestAQuickstartsTaskEndsAsItsToolSays cmd/gantry.TestAJobThatGoesOnIsATask cmd/gantry.TestAnAttemptIsATaskUntilItsFirstTurnIsOver", ""},
		{"failed is a JSON-RPC error; what a tool reports is completed with isError", "cmd/gantry.TestAQuickstartsTaskEndsAsItsToolSays cmd/gantry.TestAnAttemptIsATaskUntilItsFirstTurnIsOver", "a launch that has failed can be resumed, and its handle works again"},
		{"tasks/cancel is acknowledged with nothing, also for a task that is over", launch + " cmd/gantry.TestAJobThatGoesOnIsATask cmd/gantry.TestAnAttemptIsATaskUntilItsFirstTurnIsOver", ""},
		{"A handle survives kill -9 of its server", "cmd/gantry.TestAHandleOutlivesItsServer", ""},
		{"A task is its owner's, and of the paths that serve its toolset", owner, ""},
		{"Mcp-Name repeats the taskId, or the request is -32020", owner + " " + suite, ""},
		{"Each request passes the guard and is counted once", owner, ""},
		{"notifications/tasks", "", "not sent, as the extension allows: a subscription to tasks is acknowledged without them"},
	}
}

func promptClauses() []clause {
	return []clause{
		{"launch_a_repository leads through tools that exist, and what the user gives stays data", "cmd/gantry.TestThePromptLeadsThroughTheTools cmd/gantry.TestTheInspectorGetsThePromptAndWaits", "beyond the seed, which needs no prompts"},
		{"run_id is completed with the caller's runs: newest first, by prefix, at most 100", "cmd/gantry.TestRunIDsAreCompletedWithTheCallersRuns mcpserver/launchtools.TestACompletionIsNewestFirstAndNoLongerThanAsked", ""},
		{"launch_wait returns when the run pauses or ends or the time is over, and tells of its steps", "cmd/gantry.TestWaitReturnsWhenTheRunPausesOrTheTimeIsOver", ""},
	}
}
