package conformance

// publisherPromises is what the publishers of a launch hold.
func publisherPromises() list {
	const (
		killed = "cmd/gantry.TestAPullRequestAtGitHubSurvivesAKill"
		again  = "launch.TestACommitServiceIsAskedAgainUnderTheSameKey"
	)
	return list{
		title: "Publishers",
		intro: "What becomes of a launch's change, and what a client can make the server say to whom.",
		parts: []part{
			{"GitHub", []clause{
				{"A pull request is opened, found again and updated", "launch/github.TestAPullRequestIsOpenedOnce launch/github.TestAnOpenPullRequestIsBroughtToWhatIsWanted", ""},
				{"A kill between push and pull request, or before the answer, makes no second one", killed + " launch/github.TestAnAnswerThatIsLostOpensNoSecond", ""},
				{"The token is in no log, event, record, file or error", killed + " cmd/gantry.TestATokenThatIsRefusedIsToldAndTheRunGoesOnWithAnother", ""},
				{"The branch is pushed with the token, and no credential of the person's steps in",
					"launch.TestABranchIsPushedOverHTTPWithTheToken launch.TestAPushWithAWrongTokenIsRefusedAndNothingIsOpened", ""},
				{"401, 403, 404, 422, 429, secondary limits and 5xx are told apart", "launch/github.TestRefusalsAreToldApart", ""},
				{"A draft when validation failed and the caller insists", "cmd/gantry.TestADraftIsOpenedForWhoInsists launch/github.TestADraftIsOpenedAsOne", ""},
				{"What a person decided of a pull request holds", "launch/github.TestWhatAPersonDecidedOfAPullRequestHolds", ""},
			}},
			{"Commit service", []clause{
				{"Idempotency-Key and body are the same whenever a request is sent again", again, "an answer that is lost stands for a kill"},
				{"401, 403 and 409 are told apart, and not tried again", "launch.TestRefusalsOfACommitServiceAreToldApart", ""},
				{"ai_governance_metadata is passed on", again, ""},
				{"Offline, both requests are kept and the pull request is deferred", "launch.TestOfflineTheRequestsAreKept", ""},
			}},
			{"Around them", []clause{
				{"A client chooses neither hosts nor secrets that nobody listed",
					"cmd/gantry.TestAClientChoosesNeitherHostsNorSecrets launch/egress.TestOnlyListedHostsAreReached launch/egress.TestOnlyListedVariablesAreSecrets", ""},
				{"No redirect leads a token elsewhere", "launch/egress.TestARedirectIsNotFollowed launch/egress.TestAClientReachesNoOtherHost", ""},
				{"gantry runs rollback prints the steps", "cmd/gantry.TestADraftIsOpenedForWhoInsists", ""},
				{"Sites of the configuration start launches from their product pages", "cmd/gantry.TestASiteOfTheConfigurationIsKnown", ""},
			}},
		},
	}
}
