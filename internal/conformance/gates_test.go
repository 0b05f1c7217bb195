package conformance

// gatePromises is what gates and fixes of a launch hold.
func gatePromises() list {
	const (
		archives = "launch/gates.TestGatesFindWhatIsWrongAndNothingElse launch/gates.TestEveryCodeOfEveryGateHasASiteThatBreaksIt"
		mended   = "launch/fixes.TestFixesRepairTheirIssues launch/fixes.TestEveryFixHasATestAndIsOfACodeThatAGateGives"
	)
	return list{
		title: "Gates and fixes",
		intro: "What a launch's validation and its fix loop promise.",
		parts: []part{
			{"Gates", []clause{
				{"Each gate has a site that breaks it in each of its codes, and one that passes", archives, ""},
				{"Gates run in one order, only read, and report the same for the same site", archives, "external links alone depend on the network"},
				{"A gate has a time limit; out of it, failing or panicking, it blocks", "launch/gates.TestAGateThatDoesNotFinishIsABlocker", ""},
				{"Profiles local, ci and prod decide what fails, ci_strictness in ci", "launch/gates.TestTheProfileDecidesWhatFails", ""},
				{"The site is built with a real Hugo; absent, the gate is skipped and says so",
					"launch/gates.TestTheSiteIsBuiltAndNothingIsLeftInIt launch/gates.TestHugoNamesThePageThatItCannotBuild " + archives, ""},
				{"A site's templates are untrusted code", "launch/gates.TestTemplatesReachNeitherTheEnvironmentNorTheNetwork", ""},
				{"External links are off by default and ask only listed hosts", archives, ""},
				{"Hostile pages do no harm", "launch/gates.TestHostilePagesDoNoHarm", ""},
				{"Every code of a gate is in the registry of errors", "launch/gates.TestEveryCodeIsInTheRegistryOfErrors", ""},
			}},
			{"Fixes", []clause{
				{"Each fix has a before and an after, and changes nothing else", mended, ""},
				{"launch_fix_next alone brings a run that fails in many ways to READY_FOR_PR, one issue a call, by severity, gate, path, line and id",
					"cmd/gantry.TestARunThatFailsInManyWaysIsMendedByFixNextAlone cmd/gantry.TestFixNextRepairsOneIssueACallInOrder", ""},
				{"A fix that makes another gate worse is undone and counted; what cannot be fixed ends in FIX_EXHAUSTED with the run intact",
					"cmd/gantry.TestAFixThatMakesAnotherGateWorseIsUndone cmd/gantry.TestWhatCannotBeFixedLeavesTheRunAsItWas", ""},
				{"A fix that changes nothing is FIXER_NO_DIFF", "launch/fixes.TestAPageThatIsGoneOrUnreadableIsLeftAlone", ""},
			}},
		},
	}
}
