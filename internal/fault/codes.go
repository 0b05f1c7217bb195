package fault

// The codes that this program can emit, by area. What each means and what to do
// about it is in specs/errors.json, which a test compares with this list.
const (
	// The call.
	InvalidInput           Code = "INVALID_INPUT"
	SchemaValidationFailed Code = "SCHEMA_VALIDATION_FAILED"
	UnknownTool            Code = "UNKNOWN_TOOL"
	InvalidCursor          Code = "INVALID_CURSOR"
	RateLimited            Code = "RATE_LIMITED"
	ServerBusy             Code = "SERVER_BUSY"
	ShuttingDown           Code = "SHUTTING_DOWN"
	AccessDenied           Code = "ACCESS_DENIED"
	Unauthorized           Code = "UNAUTHORIZED"
	ToolTimeout            Code = "TOOL_TIMEOUT"
	Cancelled              Code = "CANCELLED"
	Internal               Code = "INTERNAL"
	IdempotencyConflict    Code = "IDEMPOTENCY_CONFLICT"
	IdempotencyInProgress  Code = "IDEMPOTENCY_IN_PROGRESS"
	ConfigInvalid          Code = "CONFIG_INVALID"
	AuthInvalidToken       Code = "AUTH_INVALID_TOKEN"
	AuthInsufficientScope  Code = "AUTH_INSUFFICIENT_SCOPE"

	// Runs.
	RunNotFound      Code = "RUN_NOT_FOUND"
	RunLocked        Code = "RUN_LOCKED"
	IllegalState     Code = "ILLEGAL_STATE"
	EventChainBroken Code = "EVENT_CHAIN_BROKEN"
	JournalPoisoned  Code = "JOURNAL_POISONED"
	StoreUnsupported Code = "STORE_UNSUPPORTED"
	StoreFull        Code = "STORE_FULL"
	RecordNotFound   Code = "RECORD_NOT_FOUND"
	NodeTimeout      Code = "NODE_TIMEOUT"
	WorkerMissing    Code = "WORKER_MISSING"
	BudgetExceeded   Code = "BUDGET_EXCEEDED_RUNTIME"

	// Artifacts and paths.
	ArtifactNotFound      Code = "ARTIFACT_NOT_FOUND"
	AllowedPathsViolation Code = "ALLOWED_PATHS_VIOLATION"
	PathEscape            Code = "POLICY_PATH_ESCAPE"

	// Processes and git.
	ToolchainMissing Code = "TOOLCHAIN_MISSING"
	ProcessFailed    Code = "PROCESS_FAILED"
	URLNotAllowed    Code = "URL_NOT_ALLOWED"
	RepoNotFound     Code = "REPO_NOT_FOUND"
	RefNotFound      Code = "REF_NOT_FOUND"
	CloneFailed      Code = "REPO_SCOUT_CLONE_FAILED"
	SiteCloneFailed  Code = "REPO_SCOUT_SITE_CLONE_FAILED"
	RepoEmpty        Code = "REPO_EMPTY"

	// The project's tasks.
	TaskNotFound      Code = "TASK_NOT_FOUND"
	TaskAmbiguous     Code = "TASK_AMBIGUOUS"
	NotAllowlisted    Code = "NOT_ALLOWLISTED"
	NeedsReapproval   Code = "NEEDS_REAPPROVAL"
	RunnerUnavailable Code = "RUNNER_UNAVAILABLE"
	PathOutsideRoot   Code = "PATH_OUTSIDE_ROOT"
	ArgumentRefused   Code = "ARGUMENT_REFUSED"
	EnvForbidden      Code = "ENV_FORBIDDEN"
	TooManyJobs       Code = "TOO_MANY_JOBS"
	SpawnFailed       Code = "SPAWN_FAILED"
	JobNotFound       Code = "JOB_NOT_FOUND"

	// Sessions and the board. The toolsets that show them write codes in lower case.
	NoSessionYet        Code = "NO_SESSION_YET"
	SessionNotFound     Code = "SESSION_NOT_FOUND"
	ExecutorUnavailable Code = "EXECUTOR_UNAVAILABLE"
	ProjectNotFound     Code = "PROJECT_NOT_FOUND"
	AttemptNotFound     Code = "ATTEMPT_NOT_FOUND"
	AttemptRunning      Code = "ATTEMPT_RUNNING"
	WorkspaceGone       Code = "WORKSPACE_GONE"
	NoContext           Code = "NO_CONTEXT"
	AmbiguousTarget     Code = "AMBIGUOUS_TARGET"
	MissingRequired     Code = "MISSING_REQUIRED"
	MixedPagination     Code = "MIXED_PAGINATION"

	// Files of a work tree.
	NotFound     Code = "NOT_FOUND"
	IsDirectory  Code = "IS_DIRECTORY"
	NotDirectory Code = "NOT_DIRECTORY"
	NotRegular   Code = "NOT_REGULAR"
	SecretFile   Code = "SECRET_FILE"
	NameTooLong  Code = "NAME_TOO_LONG"
	TooManyLinks Code = "TOO_MANY_LINKS"

	// The launch.
	InvalidURL           Code = "INVALID_URL"
	UnsupportedSite      Code = "UNSUPPORTED_SITE"
	InsufficientEvidence Code = "PAGE_PLANNER_INSUFFICIENT_EVIDENCE"
	URLCollision         Code = "IA_PLANNER_URL_COLLISION"
	TemplateMissing      Code = "PAGE_PLANNER_TEMPLATE_MISSING"
	DraftClaimMissing    Code = "SECTION_WRITER_CLAIM_MISSING"
	DraftUnfilledTokens  Code = "SECTION_WRITER_UNFILLED_TOKENS"
	LinkerNoDrafts       Code = "LINKER_NO_DRAFTS"
	PatchConflict        Code = "LINKER_PATCH_CONFLICT"
	ChangeBudgetExceeded Code = "POLICY_CHANGE_BUDGET_EXCEEDED"
	GateTimeout          Code = "GATE_TIMEOUT"
	GateExecutionFailed  Code = "VALIDATOR_GATE_EXECUTION_FAILED"
	FixExhausted         Code = "FIX_EXHAUSTED"
	FixerUnfixable       Code = "FIXER_UNFIXABLE"
	FixNoOp              Code = "FIXER_NO_DIFF"
	PublishFailed        Code = "PR_MANAGER_PUBLISH_FAILED"
	PublishAuth          Code = "PR_MANAGER_AUTH_REFUSED"
	CommitServiceError   Code = "COMMIT_SERVICE_ERROR"
	NetworkBlocked       Code = "NETWORK_BLOCKED"
	TaskcardNotFound     Code = "TASKCARD_NOT_FOUND"
)
