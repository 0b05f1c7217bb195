package board

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gantry-run/gantry/agents/sessions"
	"github.com/gantry-run/gantry/runs"
)

// The size that the promises of speed are about: lists stay under 20 ms at p99.
const (
	manyTasks    = 1000
	manyAttempts = 5000
)

// BenchmarkLists is what lists of a board with 1,000 tasks and 5,000 attempts cost, twenty
// agents being at work.
func BenchmarkLists(b *testing.B) {
	board, project, tasks := fullBoard(b)
	middle := TaskFilter{ProjectID: project}
	for range manyTasks / DefaultTasks / 2 {
		middle.Cursor = must(board.Tasks(b.Context(), middle))(b).Next
	}
	list := func(f TaskFilter, want int) func(int) error {
		return func(int) error {
			page, err := board.Tasks(b.Context(), f)
			if err == nil && len(page.Tasks) != want {
				err = fmt.Errorf("%d tasks, want %d", len(page.Tasks), want)
			}
			return err
		}
	}
	for _, c := range []struct {
		name string
		do   func(i int) error
	}{
		{"list_tasks", list(TaskFilter{ProjectID: project}, DefaultTasks)},
		{"list_tasks/middle", list(middle, DefaultTasks)},
		{"list_tasks/of_a_status", list(TaskFilter{ProjectID: project, Status: InReview}, DefaultTasks)},
		{"list_tasks/largest_page", list(TaskFilter{ProjectID: project, Limit: MaxPage}, MaxPage)},
		{"list_task_attempts", func(i int) error {
			_, err := board.Attempts(b.Context(), tasks[i*7919%len(tasks)], 0, "")
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if err := c.do(i); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds()*1000, "ms-p50")
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "ms-p99")
		})
	}
}

// fullBoard makes a board of that size, without worktrees, which lists do not look at.
func fullBoard(b *testing.B) (board *Board, project string, tasks []string) {
	b.Helper()
	dir := b.TempDir()
	fake := &fakeSessions{dir: filepath.Join(dir, "sessions"), now: time.Now}
	if err := os.MkdirAll(fake.dir, 0o700); err != nil {
		b.Fatal(err)
	}
	board = must(Open(b.Context(), options(b, dir, gitEnv(dir), fake, time.Now, nil)))(b)
	b.Cleanup(func() { board.Close() })
	project = board.newID()
	err := board.within(b.Context(), func(tx *sql.Tx) error {
		if _, err := tx.Exec(`INSERT INTO projects VALUES (?, 'many', 'cli', 1, 1)`, project); err != nil {
			return err
		}
		for i := range manyTasks {
			id := board.newID()
			tasks = append(tasks, id)
			if _, err := tx.Exec(`INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, NULL)`, id, project, fmt.Sprint("task ", i), "what is to be done", Statuses()[i%3], i, i); err != nil {
				return err
			}
		}
		for i := range manyAttempts {
			if err := board.putAttempt(tx, fake, tasks[i%manyTasks], i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return board, project, tasks
}

// putAttempt writes an attempt whose session is known, the newest twenty at work.
func (b *Board) putAttempt(tx *sql.Tx, fake *fakeSessions, task string, i int) error {
	id := b.newID()
	state := sessions.TurnCompleted
	if i >= manyAttempts-20 {
		state = sessions.TurnRunning
	}
	fake.put(sessions.Session{ID: runs.ID(id), Last: sessions.Turn{ID: id, State: state}})
	if _, err := tx.Exec(`INSERT INTO attempts VALUES (?, ?, 'gantry/x-a-branch', '/state/board/attempts/x/repo', 'CODEX', '', '', ?, 'ready', ?, ?, ?, ?, ?, '', ?, ?)`,
		id, task, id, i, i, fake.Size(runs.ID(id)), id, state, i, id); err != nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO attempt_repos VALUES (?, 0, ?, 'repo', '/repo', '/state/board/attempts/x/repo', 'main', 'base')`, id, id)
	return err
}
