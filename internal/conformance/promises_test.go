package conformance

const (
	scriptOfLaunch = "cmd/gantry/testdata/script/launch.txtar"
	storm          = "internal/crashtest.TestKilledAtAnyMomentNothingAcknowledgedIsLost"
	malformed      = "cmd/gantry.TestMalformedLinesAreAnsweredAndTheNextCallWorks"
	oneDriver      = "internal/crashtest.TestARunIsDrivenByOneProcessAtATime"
)

// taskRunner is what the task runner has to do before it is done.
func taskRunner() list {
	return list{title: "The task runner, point by point", parts: []part{{"", []clause{
		{"1. list_tasks shows the targets of every kind of file, each with its exact command, in a total order, when runners are missing and a file is broken",
			"targets.TestEveryRunnerListsItsFixture targets.TestAllRunnersAreListedWhenNoneIsInstalled targets.TestABrokenFileIsNamedAndHidesNothing targets.TestTwoListingsAreTheSame cmd/gantry.TestListTasksSaysEverythingOfEveryTask", ""},
		{"2. The seed's checklist passes against the binary, and each clause of the seed is a named test", "internal/conformance.TestEveryClauseIsHeldByATestThatExists", "the lists above"},
		{"3. A kept task outlives a killed server and is told of by the next; one that is not kept ends within 2 s, with all that it started",
			"cmd/gantry.TestAKeptTaskSurvivesTheKillOfItsServer cmd/gantry.TestATaskThatEndsWhileNoServerRunsKeepsItsCode cmd/gantry.TestATaskEndsWithItsServer internal/proc.TestWithoutKeepAProcessEndsWithItsServer", ""},
		{"4. 50 tasks of 20 MB and one of 1 GB cost little memory, and status is quick", "internal/proc.TestLoadCostsNeitherMemoryNorDisk cmd/gantry.TestFiftyTasksRunAtOnce cmd/gantry.TestFiftyTasksAtOnceEndRightInBoundedMemory targets/jobs.TestACrowdOfJobsYieldsMore",
			"the load is smaller in the tests; `-full` gives it its size"},
		{"5. Deaf, silent, daemonised, killed and unattended tasks each have the right state",
			"internal/proc.TestTheStateIsHowItEnded internal/proc.TestStopEndsTheWholeTree internal/proc.TestCancelStopsTheGroup targets/jobs.TestASignalIsAFailureThatSaysWhich targets/jobs.TestAJobThatEndsWhileNoProgramRunsIsToldOfRightAndThenRecorded cmd/gantry.TestATaskThatEndsWhileNoServerRunsKeepsItsCode", ""},
		{"6. Hostile names, arguments, variables and folders do no harm", "cmd/gantry.TestHostileTaskCallsAreRefusedAndStartNothing cmd/gantry.TestArgumentsReachTheTaskAsTheyAre cmd/gantry.TestOutputIsMadeReadable targets.TestArgumentsThatWouldDoSomethingElseAreRefused targets.TestVariablesThatChooseWhatRunsAreRefusedByName targets.TestAFolderOutsideOfTheRootIsRefused targets.TestHostileFilesDoNoHarm", ""},
		{"7. What a task costs is measured", "internal/bench.TestMeasuresWork", "the figures are in [benchmarks](benchmarks.md)"},
		{"8. Tests leave no process and no file behind", "internal/archtest.TestTidySeesWhatACommandLeavesBehind internal/proc.TestMain targets/jobs.TestMain cmd/gantry.TestATaskEndsWithItsServer internal/proc.TestNoZombiesAndNoOpenFilesRemain internal/proc.TestNoCgroupIsLeft",
			"`make test` runs all tests under it"},
	}}}}
}

// foundation is what the foundation has to do before it is done.
func foundation() list {
	return list{title: "The foundation, point by point", parts: []part{{"", []clause{
		{"1. A launch ends with an opened pull request, inside its allowed paths, gates listed, every claim leading to a file and a line",
			scriptOfLaunch + " cmd/gantry.TestLaunchFromStartToPullRequestOverStdio cmd/gantry.TestARealRepositoryGivesPagesThatItsMaintainersKnow launch.TestAChangeOutsideAllowedPathsIsNotPublished", ""},
		{"2. The same over stdio from an independent client; cancel, resume and fix_next where they are needed",
			"cmd/gantry.TestTheInspectorLeadsALaunchToItsPullRequest cmd/gantry.TestLaunchFromStartToPullRequestOverStdio cmd/gantry.TestAPausedRunCanBeCancelled cmd/gantry.TestAFailedRunIsResumed cmd/gantry.TestFixNextRepairsOneIssueACallInOrder", ""},
		{"3. Real repositories give pages to be proud of, or a clear statement of what is missing",
			"cmd/gantry.TestARealRepositoryGivesPagesThatItsMaintainersKnow cmd/gantry.TestARepositoryWithoutReadmeGivesHonestPages cmd/gantry.TestARepositoryThatSaysNothingFailsAndSaysWhatIsMissing",
			"all that were looked at are in [real repositories](real-repositories.md)"},
		{"4. Two launches of the same inputs are the same bytes", "internal/crashtest.TestSameInputsGiveTheSameBytesAndTheSameCommit internal/crashtest.TestALaunchAgainGivesTheSameBytes launch.TestTwoLaunchesOfTheSameInputsAreTheSame", ""},
		{"5. 300 kills: nothing acknowledged is lost, nothing finished is done again, every chain verifies, one server at a time drives a run",
			storm + " " + oneDriver + " runs/local.TestConformance cmd/gantry.TestAServerThatWasKilledLeavesARunThatAnotherOneContinues", "40 kills where `GANTRY_KILLS` is not set; `.ci/run` sets 300"},
		{"6. What violates a schema or leads out is refused with its problems, nothing outside is touched, no secret leaves",
			"cmd/gantry.TestEverySchemaViolationIsRefusedWithItsProblems cmd/gantry.TestRunConfigIsCheckedInFull cmd/gantry.TestNamesNeverBecomePaths cmd/gantry.TestLinksOutOfARunAreNotFollowed cmd/gantry.TestUnknownToolsAndRunsAreToldWithWhatToDo cmd/gantry.TestSecretsLeaveByNoWay", ""},
		{"7. One of 101 calls is limited, cancel gets through, mutating calls on a run are serialised, one key is one run",
			"cmd/gantry.TestOneOfAHundredAndOneCallsIsLimited cmd/gantry.TestCancelGetsThroughWhileANodeExecutes cmd/gantry.TestMutatingCallsOnOneRunDoNotOverlap cmd/gantry.TestOneKeyStartsOneRun", ""},
		{"8. At the end calls are answered, the code is 0, and the run goes on or can be resumed",
			"cmd/gantry.TestEveryAcceptedCallIsAnsweredAtTheEnd cmd/gantry.TestARunOutlivesItsServer cmd/gantry.TestARunWithoutWorkerIsResumable", ""},
		{"9. Malformed lines are answered and the next call works", malformed + " mcpserver/stdio.TestHostileLineIsAnsweredAndTheSessionLives", ""},
		{"10. What was promised of speed is measured", "internal/bench.TestMeasuresWork internal/bench.TestTheTableSaysWhatIsMissed", "the figures are in [benchmarks](benchmarks.md)"},
	}}}}
}

// design is what the design promises.
func design() list {
	return list{title: "The ten promises of the design", parts: []part{{"", []clause{
		{"1. An acknowledged event survives a kill, and, for launches, a power cut",
			storm + " internal/journal.TestNoAcknowledgedEventIsLostWithThePower internal/journal.TestEveryBarrierIsNeeded runs.TestNothingRemembersWhatThePowerCanTake cmd/gantry.TestAKeptTaskSurvivesTheKillOfItsServer", ""},
		{"2. A finished node is not executed again, unless an input changed or the caller forces it",
			"runs.TestResumingAgainAndAgainRepeatsNothing runs.TestResumeRepeatsNoFinishedWork runs.TestOnlyWhatIsStaleIsRedoneAndNothingStaleStays launch.TestAnArtifactThatSomebodyEditsIsKeptAndWhatReadItRedone cmd/gantry.TestACommandWhoseServerWasKilledIsBegunAnewAndNothingElse runs/local.TestConformance " + storm, ""},
		{"3. A run has one executor at a time, across processes", oneDriver + " runs/local.TestConformance runs/local.TestARunIsAdoptedWhenItsDriverIsGone", ""},
		{"4. No process is lost: it is adopted, recorded with its code, or reported lost",
			"internal/proc.TestAnOrphanIsAdopted internal/proc.TestNoKillStartsAProcessTwice internal/proc.TestAnOrphanIsStoppedWithAllThatEscaped internal/proc.TestADamagedStatusIsLostAndHoldsUpNobody targets/jobs.TestALostProcessIsAFailure cmd/gantry.TestATaskEndsWithItsServer", ""},
		{"5. Nothing is written outside the run's folder and its allowed paths",
			"artifacts.TestNothingIsWrittenOrReadOutsideTheFolder launch.TestAChangeOutsideAllowedPathsIsNotPublished cmd/gantry.TestNamesNeverBecomePaths cmd/gantry.TestLinksOutOfARunAreNotFollowed", ""},
		{"6. Nothing but protocol reaches standard output", "cmd/gantry.TestNothingIsWrittenBeforeTheFirstRequest " + malformed + " cmd/gantry.TestLaunchFromStartToPullRequestOverStdio",
			"the client of the tests refuses any other line"},
		{"7. Every call, refused or not, makes one span, one sample and one record",
			"cmd/gantry.TestEveryCallMakesOneRecordAndOneLine mcpserver/guard.TestEveryWayOutIsRecordedOnce telemetry.TestEveryCallLeavesOneOfEach", ""},
		{"8. No secret leaves in a result, log, span or record",
			"cmd/gantry.TestSecretsLeaveByNoWay mcpserver/guard.TestSecretsAreMaskedOnEveryWayOut telemetry.TestNoSecretLeaves targets/jobs.TestTheEnvironmentOfACallerIsNeverWrittenToDisk", ""},
		{"9. A broken journal is found, named by its number, and not continued",
			"internal/journal.TestEveryFlippedBitIsFoundAndNothingIsChanged internal/journal.TestLinesLeftOutRepeatedOrSwappedAreFound internal/journal.TestAFailedFlushOrWritePoisons internal/crashtest.TestADamagedJournalIsNamedAndLeftAlone launch.TestADamagedJournalIsShownAsItWasBefore", ""},
		{"10. No input kills the server", malformed + " mcpserver/stdio.TestHostileLineIsAnsweredAndTheSessionLives mcpserver.TestAPanicEndsOneCallOnly internal/crashtest.TestAFullDiskFailsCallsAndNotTheServer", ""},
	}}}}
}
