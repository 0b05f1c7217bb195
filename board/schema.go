package board

// schema is the file, version by version. Times are microseconds since 1970, UTC.
//
// The columns of attempts from seen on are the copy of the session's newest turn: seen is
// the size of the journal that it was read from, settled the last turn whose end has moved
// the task. A key without a result belongs to a call that is under way.
func schema() []string {
	return []string{`
CREATE TABLE projects (
	project_id TEXT PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE repos (
	repo_id TEXT PRIMARY KEY, path TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE project_repos (
	project_id TEXT NOT NULL REFERENCES projects ON DELETE CASCADE, repo_id TEXT NOT NULL REFERENCES repos, name TEXT NOT NULL,
	PRIMARY KEY (project_id, repo_id)
) WITHOUT ROWID;
CREATE INDEX project_repos_repo ON project_repos (repo_id);
CREATE TABLE tasks (
	task_id TEXT PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects, title TEXT NOT NULL, description TEXT NOT NULL,
	status TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER
) WITHOUT ROWID;
CREATE INDEX tasks_newest ON tasks (project_id, created_at DESC, task_id) WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_status ON tasks (project_id, status, created_at DESC, task_id) WHERE deleted_at IS NULL;
CREATE INDEX tasks_deleted ON tasks (task_id) WHERE deleted_at IS NOT NULL;
CREATE TABLE attempts (
	attempt_id TEXT PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks, branch TEXT NOT NULL, dir TEXT NOT NULL,
	executor TEXT NOT NULL, variant TEXT NOT NULL, owner TEXT NOT NULL, session_id TEXT NOT NULL, phase TEXT NOT NULL,
	created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
	seen INTEGER NOT NULL DEFAULT 0, turn_id TEXT NOT NULL DEFAULT '', turn_state TEXT NOT NULL DEFAULT '',
	failure TEXT NOT NULL DEFAULT '', active_at INTEGER NOT NULL DEFAULT 0, settled TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX attempts_newest ON attempts (task_id, created_at DESC, attempt_id);
CREATE INDEX attempts_session ON attempts (session_id);
CREATE INDEX attempts_running ON attempts (attempt_id) WHERE turn_state = 'running';
CREATE INDEX attempts_starting ON attempts (attempt_id) WHERE phase = 'starting';
CREATE TABLE attempt_repos (
	attempt_id TEXT NOT NULL REFERENCES attempts ON DELETE CASCADE, position INTEGER NOT NULL, repo_id TEXT NOT NULL, name TEXT NOT NULL,
	path TEXT NOT NULL, worktree TEXT NOT NULL, target TEXT NOT NULL, base TEXT NOT NULL,
	PRIMARY KEY (attempt_id, position)
) WITHOUT ROWID;
CREATE TABLE keys (
	owner TEXT NOT NULL, tool TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, result BLOB, attempt_id TEXT NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (owner, tool, key)
) WITHOUT ROWID;
CREATE INDEX keys_at ON keys (at);
CREATE INDEX keys_attempt ON keys (attempt_id) WHERE attempt_id <> '';`}
}

// The phases of an attempt.
const (
	starting = "starting" // it is being made, or its maker died
	ready    = "ready"
	cleaned  = "cleaned" // the worktrees are gone
)
