package conformance

// modelPromises is what a launch with a model has to do.
func modelPromises() list {
	const (
		refuses = "launch/model/reword.TestAnAnswerThatBreaksThePageIsRefused"
		within  = "launch.TestAModelIsAskedWithinTheBudgetAndOnListedHosts"
		killed  = "cmd/gantry.TestARunWithAModelSurvivesAKillAndSpendsNothingTwice"
	)
	return list{title: "A launch with a model", intro: "What [a model](model.md) may do to a launch, and what it may cost.", parts: []part{{"", []clause{
		{"Injected instructions, uncatalogued snippets or uncited claims change nothing outside the page, and the page falls back to its template",
			"launch.TestAModelThatBreaksOutOfItsPageChangesNothing " + refuses, ""},
		{"Answers are held against the page's contract: claims, snippets, headings, front matter, HTML, shortcodes, links", refuses + " launch/model/reword.TestBetterSentencesAreTaken", ""},
		{"Temperature 0; the same cache gives the same bytes", "launch.TestAModelRewordsPagesAndTheSameCacheGivesTheSameBytes launch/model.TestAQuestionCostsOnceAndIsWrittenDown", ""},
		{"Budgets of calls and tokens hold, and what was spent survives a crash",
			"launch/model.TestBudgetsHold launch/model.TestACallThatWasCutShortIsPaid launch/model.TestTheLedgerIsOnTheDiskBeforeTheRequestIsSent " + within + " " + killed, ""},
		{"An endpoint that is slow, answers 429 with Retry-After, 500 or nonsense is tried again, then the fallback, for passing reasons only",
			"launch/model.TestWhatPassesIsTriedAgainAndThenElsewhere launch/model.TestASlowEndpointIsLeft launch/model.TestTheFallbacksAnswerIsFoundAgain launch.TestAnEndpointThatIsDownLeavesTheTemplates", ""},
		{"A wrong key, model or address ends the run until it is corrected", "launch/model.TestAWrongConfigurationEndsTheRun launch.TestARunWhoseModelIsConfiguredWronglyWaitsForItsCorrection", ""},
		{"Only hosts and variables that the configuration lists: NETWORK_BLOCKED", within + " cmd/gantry.TestAClientChoosesNoHostAndNoSecretOfItsOwn", ""},
		{"The key is in no file, event, log, record or answer", killed + " cmd/gantry.TestAModelThatSaysTheKeyBackGivesNothingAway", ""},
		{"Every call is in the journal, in evidence/llm_calls and in the telemetry, with tokens and cost",
			killed + " launch/model.TestAQuestionCostsOnceAndIsWrittenDown launch/model.TestACallHasItsPriceWhereItIsKnown telemetry.TestCallsToModelsAreRecordedAndTheirTokensCounted", ""},
	}}}}
}
