package conformance

// seedOfHTTP is what the seed of the launch and the contract say of HTTP, and the rows of the
// hostile inputs that concern it.
func seedOfHTTP() list {
	return list{
		title: "HTTP",
		intro: "What the seed of the launch toolset says of HTTP and its security, then the hostile inputs by their rows.",
		parts: []part{
			{"Transport and authentication", httpClauses()},
			{"Hostile requests", hostileHTTPClauses()},
			{"Protocol conformance", protocolSuiteClauses()},
		},
	}
}

func httpClauses() []clause {
	return []clause{
		{"Over stdio no authentication is needed", "cmd/gantry.TestLaunchFromStartToPullRequestOverStdio", ""},
		{"Over HTTP a bearer token is required", "cmd/gantry.TestTheFrontHoldsAgainstHostileRequests mcpserver/httpfront.TestOnlyABearerTokenInItsHeaderCounts cmd/gantry.TestWithoutTokensNothingThatStartsProgramsIsServed",
			"except for the files of the worktree toolset, on loopback, when no tokens are configured"},
		{"Over HTTP TLS is required", "cmd/gantry.TestServeSpeaksTLS cmd/gantry.TestItRefusesToStartWhereStrangersCouldGetIn", "[optional on loopback](decisions/009-tls-on-loopback.md)"},
		{"Tokens come from a file or the environment, expire, and are read again when they change", "mcpserver/tokens.TestALineIsANameATokenScopesAndAnExpiry mcpserver/tokens.TestTheFileIsReadAgainWhenItChanges mcpserver/tokens.TestAnExpiredTokenIsUnknown", ""},
		{"A missing scope is 403 AUTH_INSUFFICIENT_SCOPE, a bad token 401 AUTH_INVALID_TOKEN", "mcpserver.TestAMissingScopeIsForbidden mcpserver/httpfront.TestATokenWithoutTheScopeIsForbidden mcpserver/httpfront.TestOnlyABearerTokenInItsHeaderCounts", ""},
		{"Runs belong to the token that started them", "cmd/gantry.TestRunsAreOfTheTokenThatStartedThem cmd/gantry.TestIdempotencyKeysAreOfTheirToken runs.TestAStrangerSeesTheirOwnRunsAndNoOthers", ""},
		{"A call is aborted when its client disconnects, and its run is not", "mcpserver.TestLeavingCancelsTheCall", "[in both eras](decisions/011-leaving-cancels.md)"},
		{"Each toolset has its path, and each path a twin that only reads", "cmd/gantry.TestEveryToolsetHasAPathAndATwinThatReads", ""},
		{"A session of one path or token is none on another", "mcpserver.TestASessionIsOfItsPathAndItsToken", ""},
		{"Both eras are served at one URL", "mcpserver.TestOneURLServesBothEras mcpserver.TestRevisionsThatDoNotMatchAreRefused", ""},
		{"Changes of resources are told in both eras", "mcpserver.TestChangesOfAResourceAreToldInBothEras", ""},
		{"A silent stream is kept alive", "mcpserver.TestASilentStreamIsKeptAlive", ""},
		{"The end is in order: drain, answers, sessions, connections", "cmd/gantry.TestServeEndsInOrder mcpserver.TestShutdownAnswersEveryCall", ""},
		{"Ten clients over HTTP and ten servers over stdio share a state directory", "cmd/gantry.TestTwentyClientsOnOneStateDirectory", "for seconds; `GANTRY_SOAK=2m` for as long as one likes"},
		{"The older pair of HTTP and SSE at /sse", "", "not built: no client that is kept up needs it"},
	}
}

func hostileHTTPClauses() []clause {
	const front = "cmd/gantry.TestTheFrontHoldsAgainstHostileRequests "
	return []clause{
		{"H081: a run of another token is not found", "cmd/gantry.TestRunsAreOfTheTokenThatStartedThem", ""},
		{"H223, H225, H231: pages of others", front + "mcpserver/httpfront.TestPagesOfOthersAreForbidden mcpserver/httpfront.TestAPreflightIsAnsweredForAllowedPagesOnly", ""},
		{"H227, H229: hosts that are not ours", front + "mcpserver/httpfront.TestHostsThatAreNotOursAreForbidden", ""},
		{"H233: what is no bearer token", front + "mcpserver/httpfront.TestOnlyABearerTokenInItsHeaderCounts", ""},
		{"H235, H237: an empty token, a bind for everybody", "cmd/gantry.TestItRefusesToStartWhereStrangersCouldGetIn", ""},
		{"H239: a name in base64", "mcpserver.TestANameMayBeInBase64", ""},
		{"H241, H243: revisions that differ, a forged Last-Event-ID", "mcpserver.TestRevisionsThatDoNotMatchAreRefused", ""},
		{"H245: smuggling", front + "mcpserver/httpfront.TestWhatCouldBeReadInTwoWaysIsRefused mcpserver/httpfront.TestAChunkedBodyIsTheLastOfItsConnection mcpserver/httpfront.TestOneConnectionCarriesManyRequests", ""},
		{"H247: slow heads and bodies", "cmd/gantry.TestASlowHeadIsCutOff mcpserver/httpfront.TestABodyThatDoesNotArriveIsNotWaitedFor", ""},
		{"H249: a client that leaves", "mcpserver.TestLeavingCancelsTheCall", ""},
		{"H251: nothing of the runtime is served", "cmd/gantry.TestEveryToolsetHasAPathAndATwinThatReads", ""},
		{"H253: floods of HTTP/2 streams", "cmd/gantry.TestServeSpeaksTLS", "[HTTP/1.1 only](decisions/010-http-1.1-with-a-strict-head.md)"},
		{"Duplicate headers, oversize bodies", "mcpserver/httpfront.TestHeadersOfOneValueMayBeThereOnce mcpserver/httpfront.TestABodyIsNoLargerThanTheLimit", ""},
		{"Guessing tokens", "mcpserver/httpfront.TestGuessingIsSlowedDown", ""},
		{"Refusals repeat nothing of the request", "mcpserver.TestRefusalsAreJSONAndRepeatNothing " + front, ""},
	}
}

func protocolSuiteClauses() []clause {
	return []clause{
		{"The conformance suite passes for 2025-11-25 and 2026-07-28, and in its stable version", "internal/mcpconformance.TestTheConformanceSuitePasses",
			"against a fixture behind the same front and guard; `testdata/expected-*.yml` says what fails and why"},
		{"The shipped server passes what any server can run", "cmd/gantry.TestTheShippedServerPassesTheConformanceSuite", ""},
		{"The Inspector meets it in both eras, with --strict", "cmd/gantry.TestTheInspectorMeetsEveryPathInBothEras", ""},
	}
}
