package conformance

// seedOfWorktree is the seed of the worktree toolset, scenario by scenario.
func seedOfWorktree() list {
	return list{
		title: "The seed of the worktree toolset",
		intro: "Each requirement with its scenarios, in the order of the seed.",
		parts: []part{
			{"Per-Worktree MCP Server", perWorktreeClauses()},
			{"HTTP SSE Transport", sseClauses()},
			{"JSON-RPC 2.0 Protocol", worktreeProtocolClauses()},
			{"Core MCP Tools", worktreeToolClauses()},
			{"Security Sandboxing", sandboxClauses()},
			{"MCP Configuration", clientConfigClauses()},
			{"MCP State Management", serverStateClauses()},
		},
	}
}

func perWorktreeClauses() []clause {
	return []clause{
		{"Start MCP server: when a worktree is opened, a server is there on a port of its own, from 3000 up", "cmd/gantry.TestEveryWorktreeHasAServerOnAPortOfItsOwn", ""},
		{"Stop MCP server: when a worktree is closed, its server ends and the port is free", "cmd/gantry.TestAServerComesAndGoesWithItsWorktree", ""},
	}
}

func sseClauses() []clause {
	return []clause{
		{"Client connection: http://localhost:<port>/mcp speaks JSON-RPC, and GET opens an SSE stream", "cmd/gantry.TestEveryWorktreeHasAServerOnAPortOfItsOwn cmd/gantry.TestAWorktreesServerOpensAStream",
			"Streamable HTTP, which took the place of the older pair of HTTP and SSE in the protocol"},
		{"Multiple clients are handled concurrently", "cmd/gantry.TestManyClientsCallOneWorktreeAtOnce", ""},
	}
}

func worktreeProtocolClauses() []clause {
	return []clause{
		{"tools/list returns the tools with their schemas", "cmd/gantry.TestWorktreeToolsAreListedWithTheirSchemas", ""},
		{"tools/call executes a tool and returns its result or an error", "cmd/gantry.TestEveryWorktreeToolAnswersAsItsSchemaSays cmd/gantry.TestPathsOutsideOfTheProjectAreRefusedInTheSeedsWords", ""},
	}
}

func worktreeToolClauses() []clause {
	return []clause{
		{"read_file returns the content of a file in the root, and refuses others", "cmd/gantry.TestReadFileReturnsWhatIsInTheFile cmd/gantry.TestPathsOutsideOfTheProjectAreRefusedInTheSeedsWords worktree.TestLinesOfAFile", ""},
		{"list_directory returns entries, respects .gitignore, and refuses paths outside", "cmd/gantry.TestListDirectoryLeavesOutWhatGitIgnores worktree.TestWhatGitIgnoresIsNotListed worktree.TestRandomRulesAreReadAsGitReadsThem worktree.TestThePersonsOwnRulesCount",
			"compared with git's own answers"},
		{"get_project_context returns files, git status, docker logs and more", "cmd/gantry.TestTheContextOfAProjectHoldsItsFilesStateAndOutput worktree.TestContainersThatFailedAreShown worktree.TestAContextKeepsToItsBoundsAndSaysWhatItLeavesOut worktree.TestAContextIsKeptAsLongAsNothingChanges", ""},
		{"run_just_task executes a just command and returns its output", "cmd/gantry.TestRunJustTaskReturnsCodeAndOutput cmd/gantry.TestARecipeThatTakesTooLongIsStoppedWithAllThatItStarted cmd/gantry.TestARecipeEndsWithItsServer",
			"only recipes that a human has allowlisted"},
	}
}

func sandboxClauses() []clause {
	return []clause{
		{"A path is validated to be in the root, and refused if not", "worktree.TestWhatLeadsOutIsRefusedWhetherItExistsOrNot worktree.TestPathsAreTakenAsTheyAre worktree.TestALinkThatIsSwappedGivesNothingFromOutside worktree.TestPipesDevicesAndSocketsAreNotOpened", ""},
		{`/etc/passwd and the like: the error "Path outside project root"`, "cmd/gantry.TestPathsOutsideOfTheProjectAreRefusedInTheSeedsWords", ""},
		{"Files that look as if they held secrets are refused, unless a human allows them", "worktree.TestFilesThatLookSecretAreRefusedUnlessAllowed cmd/gantry.TestReadFileReturnsWhatIsInTheFile", "beyond the seed"},
	}
}

func clientConfigClauses() []clause {
	return []clause{
		{"The configuration for Claude Desktop has the seed's form", "cmd/gantry.TestTheConfigurationForClaudeDesktopIsTheSeeds", "the entry is called gantry, and not by the seed's own program"},
		{"Several worktrees have ports one after the other", "cmd/gantry.TestEveryWorktreeHasAServerOnAPortOfItsOwn", "a port that somebody else has is passed over"},
	}
}

func serverStateClauses() []clause {
	return []clause{
		{"Active: server_running is true and port is the one it has", "cmd/gantry.TestTheStateOfEveryWorktreeIsShown", ""},
		{"Inactive: server_running is false", "cmd/gantry.TestTheStateOfEveryWorktreeIsShown", ""},
		{"The state has port, connected_clients, tools with name, description and parameters, and last_error", "cmd/gantry.TestTheStateOfEveryWorktreeIsShown", ""},
	}
}

// worktreePromises is what the issue of HTTP wants of the worktree toolset and of what
// belongs to it.
func worktreePromises() list {
	return list{title: "Worktrees and clients, point by point", parts: []part{{"", []clause{
		{"1. Each scenario of the seed is a test against the binary", "internal/conformance.TestEveryClauseIsHeldByATestThatExists", "the list of the seed above"},
		{"3. Hostile paths, links, pipes and rules do no harm",
			"cmd/gantry.TestPathsOutsideOfTheProjectAreRefusedInTheSeedsWords worktree.TestPathsAreTakenAsTheyAre worktree.TestALinkThatIsSwappedGivesNothingFromOutside worktree.TestHostileRulesCostLittle worktree.TestAFileOfTenGigabytesIsCut", "the rows about paths; those about HTTP are held elsewhere"},
		{"7. A context of 50,000 files and read_file beside the official server are measured", "internal/bench.TestTheTableSaysWhatIsMissed", "`make bench ONLY=context,readfile`; the figures are in [benchmarks](benchmarks.md)"},
		{"gantry config merges into the files of six clients and loses nothing; the real Codex reads the result",
			"clients.TestEveryClientHasItsFormOverStdioAndHTTP clients.TestJSONKeepsEverythingElse clients.TestTOMLKeepsEverythingElse clients.TestAFileThatCannotBeAddedToIsLeftAlone clients.TestAFileIsReplacedAsAWholeAndTheOldOneKept cmd/gantry.TestAConfigurationIsWrittenBesideWhatIsThere cmd/gantry.TestWhatAClientIsToldStartsTheServer cmd/gantry.TestTheRealCodexReadsItsConfiguration", ""},
		{"server.json obeys the schema of the registry", "clients.TestTheEntryForTheRegistryObeysItsSchema", ""},
		{"A server for each worktree, opened and closed as worktrees come and go",
			"cmd/gantry.TestAServerComesAndGoesWithItsWorktree mcpserver/fleet.TestServersComeAndGoWithTheirPlaces mcpserver/fleet.TestAPortThatIsTakenIsPassedOver mcpserver/fleet.TestAPlaceThatCannotBeServedSaysWhyAndIsTriedAgain", ""},
		{"What a model sees of the default toolsets stays under 20 KB", "specs.TestTheDefaultToolsetsAreSmallForAModel", ""},
	}}}}
}
