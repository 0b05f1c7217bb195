package conformance

// boardPromises is what the board promises below its tools: what the seed's scenarios rest
// on, and what it leaves open.
func boardPromises() list {
	return list{
		title: "Attempts and their worktrees",
		intro: "What the board does below its tools, which the scenarios of the board's seed rest on.",
		parts: []part{
			{"Projects and tasks", boardTaskClauses()},
			{"Starting an attempt", boardStartClauses()},
			{"States", boardStateClauses()},
			{"What changed", boardChangeClauses()},
			{"What is kept", boardCleanClauses()},
			{"Hostile input", boardHostileClauses()},
		},
	}
}

func boardTaskClauses() []clause {
	return []clause{
		{"Projects come from the configuration, from the command line and from the server's root; their ids do not change", "board.TestProjectsComeFromTheConfigurationTheCommandLineAndTheRoot", ""},
		{"A project that is not right is refused", "board.TestAProjectThatIsNotRightIsRefused", ""},
		{"A request_id makes one task, also in another process; with another payload it is a conflict; a failed call frees it", "board.TestARequestIDMakesOneTask", ""},
		{"Update and delete act once", "board.TestUpdateAndDeleteActOnce", ""},
		{"Lists have a total order and pages, and a cursor belongs to its list", "board.TestListsArePagedAndFiltered", ""},
		{"The latest attempt is by created_at descending, then attempt_id ascending", "board.TestTheLatestAttemptIsByTimeThenID", ""},
		{"A task without attempts has an empty summary", "board.TestATaskWithoutAttemptsHasAnEmptySummary", ""},
		{"Every list goes by an index", "board.TestListsReadOnlyTheirPageByAnIndex", "its speed is in [the benchmarks](benchmarks.md)"},
	}
}

func boardStartClauses() []clause {
	return []clause{
		{"A worktree and the branch `gantry/<8 of the id>-<slug>` in each repository, and a session in the folder", "board.TestAnAttemptHasAWorktreeInEachRepositoryAndASession", ""},
		{"The target branch may be one of origin", "board.TestATargetBranchMayBeOneOfOrigin", ""},
		{"A failed start leaves no row, no folder and no branch, and the task as it was", "board.TestAFailedStartLeavesNothing board.TestACallerThatGivesUpLeavesNothing", ""},
		{"A start whose session is there has succeeded", "board.TestAStartWhoseSessionIsThereHasSucceeded", ""},
		{"A start that is killed at any step is undone, or finished when the session is there", "board.TestAStartThatIsKilledIsUndoneOrFinished cmd/gantry.TestAnAttemptWhoseServerIsKilledWhileItStartsLeavesNothing", ""},
		{"What another process is making is left alone", "board.TestWhatAnotherProcessIsMakingIsLeftAlone", ""},
		{"A request_id starts one attempt; it is kept for seven days", "board.TestAKeyStartsOneAttempt", ""},
		{"A folder belongs to the attempt whose worktree it is in", "board.TestAFolderBelongsToTheAttemptWhoseWorktreeItIsIn", ""},
	}
}

func boardStateClauses() []clause {
	return []clause{
		{"The state of an attempt is that of its newest turn: idle, running, completed, failed with its exit code, or killed", "board.TestTheStateOfAnAttemptIsThatOfItsNewestTurn", ""},
		{"A turn moves its task to inprogress when it begins and to inreview when it ends, once", "board.TestTurnsMoveTheTaskOnce", ""},
		{"A task is listed under the status that it has now", "board.TestAListFindsATaskUnderTheStatusThatItHasNow", ""},
		{"Lists read only the sessions that went on", "board.TestListsReadOnlyTheSessionsThatWentOn", ""},
		{"Stop ends the turn; stopping what does not run is no error", "board.TestStopEndsTheTurn", ""},
	}
}

func boardChangeClauses() []clause {
	return []clause{
		{"Changes are committed, uncommitted and untracked ones against the merge base, with the repository in front of each path", "board/changes.TestChangesAreWhatIsCommittedAndWhatIsNot", ""},
		{"A binary file, a rename, a mode, a submodule, a link and a newline in a name are shown right",
			"board/changes.TestEveryKindOfChangeIsShownRight internal/git.TestARenamedFileIsOneChange", ""},
		{"A file of 100 MB is counted, blocked, and read in pieces", "board/changes.TestAHundredMegabytesAreCountedAndNotRead", ""},
		{"501 changed files are blocked without force and listed with it; the presets of the guard", "board/changes.TestMoreThanTheGuardIsBlockedUnlessForced", ""},
		{"A summary that cannot be made is blocked", "board/changes.TestWhatGitCannotCompareIsSaid", ""},
		{"A patch applies at the top of the attempt", "board/changes.TestAPatchAppliesAtTheTopOfTheAttempt", ""},
		{"A patch holds the paths that are asked for", "board/changes.TestAPatchHoldsThePathsThatAreAskedFor", ""},
		{"A patch is cut at the end of a character", "board/changes.TestAPatchIsCutAtTheEndOfACharacter", ""},
		{"More paths, more bytes or more changes than allowed are blocked, with the reason", "board/changes.TestAPatchOfTooMuchIsBlocked", ""},
		{"A file is read in pieces; beyond its end there is nothing", "board/changes.TestAFileIsReadInPieces", ""},
	}
}

func boardCleanClauses() []clause {
	return []clause{
		{"Work that is nowhere else is never deleted", "board.TestCleanNeverDeletesWorkThatIsNowhereElse board.TestCleanKeepsAllOrNothingOfAnAttempt internal/git.TestOnlyHereCountsWhatABranchAloneHolds", ""},
		{"Without names only old attempts of finished tasks are considered", "board.TestCleanConsidersOldAttemptsOfFinishedTasks", ""},
		{"A deleted task leaves only work that is nowhere else, and is not deleted while an agent works on it", "board.TestADeletedTaskLeavesOnlyWorkThatIsNowhereElse", ""},
		{"A worktree whose making was cut off can be removed", "internal/git.TestAWorkTreeWhoseMakingWasCutOffIsRemoved", ""},
	}
}

func boardHostileClauses() []clause {
	return []clause{
		{"Titles make harmless branches", "board.TestHostileTitlesMakeHarmlessBranches", ""},
		{"No hook, filter, text converter or monitor of the repository runs, nor a filter of a submodule",
			"board/changes.TestNothingOfTheRepositoryRunsOrLeadsElsewhere internal/git.TestRepositoriesInTheWorkTreeAreShownAndRunNothing", ""},
		{"No path, link or configuration leads out of a worktree", "board/changes.TestAFileOutsideIsNeverRead board/changes.TestALinkThatIsSwappedWhileItIsReadNeverLeadsOut board/changes.TestNothingOfTheRepositoryRunsOrLeadsElsewhere", ""},
	}
}
