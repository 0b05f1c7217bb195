package conformance

// evidencePromises is what a launch says of repositories, and how it takes them.
func evidencePromises() list {
	return list{
		title: "Facts and pages",
		intro: "What a launch reads of a repository, and what becomes of it.",
		parts: []part{
			{"Repositories", []clause{
				{"A repository of 10,000 files and 300 MB is launched under 300 MB of memory", "launch/evidence.TestDocumentsBeyondTheBoundAreNotReadAndThatIsSaid launch/inventory.TestLargeFileIsStreamed",
					"the figure is measured, by `make bench ONLY=large`, and in docs/benchmarks.md"},
				{"Links in circles, lines of 50 MB, files named like options, submodules, pointers of Git LFS and names that are no UTF-8 do no harm, and what is not read is listed",
					"launch.TestAHostileRepositoryIsLaunchedWithoutHarm launch/inventory.TestHostileEntriesAreSkippedWithTheReason launch/evidence.TestHostileTreesAreSurvived", ""},
				{"Repositories that were not written for this give pages that their maintainers know",
					"cmd/gantry.TestARealRepositoryGivesPagesThatItsMaintainersKnow cmd/gantry.TestARealPythonRepositoryIsDocumentedAsItIsImported", "two of them are tests, the others are in docs/real-repositories.md"},
				{"A repository that says little is told what is missing", "cmd/gantry.TestARepositoryThatSaysNothingFailsAndSaysWhatIsMissing launch/evidence.TestARepositoryThatSaysNothingSaysSo", ""},
			}},
			{"Facts", []clause{
				{"Snippets are checked by the parsers of their languages and never executed", "launch/evidence.TestSyntaxIsCheckedByRealParsers", "of Go, JSON, YAML, TOML and XML; others are unchecked and say so"},
				{"Contradictions are found, resolved by the authority of their sources, and recorded", "launch/evidence.TestPythonRepositoryWithRSTReadme launch/evidence.TestEqualSourcesThatDisagreeStayUnresolved", ""},
				{"Every code is in the registry with what to do, and named by a test", "specs.TestRegistryAndConstantsAreTheSameCodes specs.TestEveryErrorSaysWhatToDo specs.TestEveryCodeIsReachedByATest", ""},
			}},
		},
	}
}
