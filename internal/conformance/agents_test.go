package conformance

// agentPromises are what holds of agents' command lines below the tools that use them.
func agentPromises() list {
	return list{
		title: "Agents",
		intro: "What is promised of agents' command lines and of what is kept of their output, below the tools.",
		parts: []part{
			{"Command lines", cliClauses()},
			{"What they write", streamClauses()},
			{"Entries", entryClauses()},
			{"Processes", turnProcessClauses()},
		},
	}
}

func cliClauses() []clause {
	return []clause{
		{"Codex, Claude Code, Gemini, OpenCode and commands of the user's are started, and taken up again, as their versions of today want it",
			"agents.TestHowEachTurnIsStarted agents.TestTheRealCodexIsUnderstood", "the real Codex is run; of the others the options were read off their help"},
		{"The real Codex, from its start to the archive, on the binary: start, log follow, send, status, stop, archive", "cmd/gantry.TestTheRealCodexIsLedFromItsStartToTheArchive",
			"a model of our own on loopback makes it edit files"},
		{"Nothing that a caller says becomes an option of a command line; sandboxes and permissions cannot be asked for", "agents.TestATurnThatCannotBeIsRefused", "hostile input H213"},
		{"An agent inherits what works in a project, and the keys of its own command line alone", "agents.TestWhatAnAgentInherits", ""},
		{"Variants are a list, and none is DEFAULT", "agents.TestVariantsAreSortedAndNoneIsDEFAULT", ""},
		{"A command of the user's that is not configured right is named; it may replace one of ours", "agents.TestACustomAgentThatIsNotRightIsNamed agents.TestACustomAgentMayReplaceOneOfOurs", ""},
		{"A probe says what is installed, its version and whether it works; `gantry doctor` shows it", "agents.TestAProbeSaysWhatIsInstalledAndWorks agents.TestAProberAsksOnceAMinute cmd/gantry.TestCommandLine",
			"`cmd/gantry/testdata/script/program.txtar`"},
	}
}

func streamClauses() []clause {
	return []clause{
		{"Each stream is read into one model of entries, with token usage and cost", "agents.TestRecordedStreams agents.TestTheRealCodexIsUnderstood cmd/gantry.TestClaudeCodeWorksThroughItsStream", ""},
		{"A turn that fails says why", "agents.TestTheRealCodexSaysWhyItFails cmd/gantry.TestClaudeCodeWorksThroughItsStream", ""},
		{"Broken lines, unknown events, one of 50 MB and half a one are survived, and what can be kept of them is in the raw log",
			"agents.TestADecoderGoesOnAfterWhateverItIsFed agents.FuzzDecoders agents.TestALineOf50MBIsHeldInPart cmd/gantry.TestNothingThatAnAgentWritesEndsItsSession", "hostile input H217"},
		{"A driver that comes later reads the same lines into the same entries", "agents.TestADecoderDependsOnItsLinesAlone agents.TestLinesDoNotDependOnThePieces", ""},
		{"What is shown is valid UTF-8 without escape sequences", "agents.TestARawLineIsSafeToShow agents.TestADecoderGoesOnAfterWhateverItIsFed", ""},
		{"A key that an agent prints is masked wherever it leaves", "cmd/gantry.TestAKeyThatAnAgentPrintsIsMasked", "hostile input H219"},
	}
}

func entryClauses() []clause {
	return []clause{
		{"Pages towards older and newer entries leave nothing out and repeat nothing, whatever their size", "agents/entries.TestPagesLeaveNothingOutAndRepeatNothing", ""},
		{"A reader that asks for what comes after an entry gets all of it, in order", "agents/entries.TestAReaderFindsWhatComesLater", ""},
		{"A crash or a power cut in the middle of an append is repaired", "agents/entries.TestACrashInTheMiddleOfAnAppendIsRepaired", ""},
		{"Only one program appends to a turn", "agents/entries.TestOnlyOneAppends", ""},
		{"Names lead nowhere else", "agents/entries.TestANameThatIsNoFolderIsRefused", ""},
		{"An entry comes back as it was", "agents/entries.TestAnEntryComesBackAsItWas", ""},
	}
}

func turnProcessClauses() []clause {
	return []clause{
		{"A prompt of any length is the process's input, not an argument", "internal/proc.TestAProcessReadsTheFileItIsGiven agents.TestHowEachTurnIsStarted", ""},
		{"Output and errors are kept apart, and all of them, also when the supervising process is killed",
			"internal/proc.TestErrorsAreKeptApartWhenAsked internal/proc.TestErrorsAreReadOnWhenTheShimWasKilled internal/proc.TestAllOutputIsKeptWhenAsked", ""},
		{"What an agent leaves behind ends with its turn", "cmd/gantry.TestADaemonOfAnAgentEndsWithTheTurn", ""},
	}
}
