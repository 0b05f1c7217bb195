package conformance

// list is what one document promises.
type list struct {
	title, intro string
	parts        []part
}

// part is a heading of the document.
type part struct {
	heading string
	clauses []clause
}

// clause is one promise.
type clause struct {
	says string
	// held are the tests that fail when it breaks, separated by blanks: a package's folder
	// and the test's name with a dot between, or the path of a script.
	held string
	// but is what is different here, or how else it is answered, and why.
	but string
}

// lists are all promises, in the order of the document.
func lists() []list {
	return []list{seedOfTasks(), seedOfAgents(), seedOfWorktree(), seedOfTheLaunch(), seedOfRecords(), seedOfTelemetry(), seedOfBoard(), seedOfHTTP(), seedOfProtocol(), taskRunner(), worktreePromises(), agentPromises(), boardPromises(), modelPromises(), gatePromises(), publisherPromises(), evidencePromises(), foundation(), design()}
}
