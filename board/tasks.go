package board

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// CreateTask makes a task.
func (b *Board) CreateTask(ctx context.Context, a Ask, t NewTask) (Task, error) {
	title, err := line("title", t.Title, MaxTitle)
	if err == nil {
		err = prose("description", t.Description, MaxDescription)
	}
	if t.Status == "" {
		t.Status = Todo
	}
	if err == nil {
		err = checkStatus(t.Status)
	}
	if err != nil {
		return Task{}, err
	}
	if _, err := b.Project(ctx, t.ProjectID); err != nil {
		return Task{}, err
	}
	id := b.newID()
	return once(ctx, b, a, func(tx *sql.Tx) (Task, error) {
		now := b.now()
		if _, err := tx.ExecContext(ctx, `INSERT INTO tasks (task_id, project_id, title, description, status, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			id, t.ProjectID, title, t.Description, t.Status, now, now); err != nil {
			return Task{}, err
		}
		return b.task(ctx, tx, id)
	})
}

func checkStatus(s Status) error {
	if slices.Contains(Statuses(), s) {
		return nil
	}
	var names []string
	for _, s := range Statuses() {
		names = append(names, string(s))
	}
	return fault.New(fault.InvalidInput, "%.40q is not the status of a task", s).WithHint("use one of %s", strings.Join(names, ", "))
}

// UpdateTask changes a task.
func (b *Board) UpdateTask(ctx context.Context, a Ask, id string, c TaskChange) (Task, error) {
	if c.Title != nil {
		title, err := line("title", *c.Title, MaxTitle)
		if err != nil {
			return Task{}, err
		}
		c.Title = &title
	}
	if c.Description != nil {
		if err := prose("description", *c.Description, MaxDescription); err != nil {
			return Task{}, err
		}
	}
	if c.Status != nil {
		if err := checkStatus(*c.Status); err != nil {
			return Task{}, err
		}
	}
	// The turns that began or ended before this call move the task before it does.
	if _, err := b.Task(ctx, id); err != nil && !fault.Is(err, fault.TaskNotFound) {
		return Task{}, err
	}
	return once(ctx, b, a, func(tx *sql.Tx) (Task, error) {
		if _, err := b.task(ctx, tx, id); err != nil {
			return Task{}, err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE tasks SET title = coalesce(?, title), description = coalesce(?, description),
			status = coalesce(?, status), updated_at = max(updated_at, ?) WHERE task_id = ?`, c.Title, c.Description, c.Status, b.now(), id); err != nil {
			return Task{}, err
		}
		return b.task(ctx, tx, id)
	})
}

const taskColumns = `SELECT task_id, project_id, title, description, status, created_at, updated_at FROM tasks`

func scanTask(row scanner) (t Task, err error) {
	var created, updated int64
	err = row.Scan(&t.ID, &t.ProjectID, &t.Title, &t.Description, &t.Status, &created, &updated)
	t.CreatedAt, t.UpdatedAt = timeOf(created), timeOf(updated)
	return t, err
}

// Task returns a task with the summary of its attempts.
func (b *Board) Task(ctx context.Context, id string) (Task, error) {
	if _, err := b.task(ctx, b.db, id); err != nil {
		return Task{}, err
	}
	rows, err := b.rowsOf(ctx, b.db, id)
	if err == nil {
		_, err = b.follow(ctx, rows)
	}
	if err != nil {
		return Task{}, err
	}
	return b.task(ctx, b.db, id)
}

// task returns a task with what the file says of its attempts.
func (b *Board) task(ctx context.Context, q querier, id string) (Task, error) {
	t, err := scanTask(q.QueryRowContext(ctx, taskColumns+` WHERE task_id = ? AND deleted_at IS NULL`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Task{}, taskNotFound(id)
	}
	if err != nil {
		return Task{}, err
	}
	rows, err := b.rowsOf(ctx, q, id)
	t.Attempts = summarize(rows)
	return t, err
}

func taskNotFound(id string) error {
	return fault.New(fault.TaskNotFound, "there is no task %.64q", id).WithHint("take task_id from list_tasks")
}

// summarize returns the summary of the attempts at one task, which are in the order of
// lists.
func summarize(rows []row) AttemptSummary {
	s := AttemptSummary{Count: len(rows)}
	for i, r := range rows {
		if i == 0 {
			s.LatestAttemptID, s.LatestBranch, s.LatestSessionID, s.LatestExecutor = r.ID, r.Branch, r.SessionID, r.Executor
			s.LastFailed = r.State == Failed
		}
		s.InProgress = s.InProgress || r.State == Running || r.phase == starting
	}
	return s
}

// Tasks returns a page of the tasks of a project, newest first, the id as tie-break. A
// cursor of another list or filter is INVALID_CURSOR.
func (b *Board) Tasks(ctx context.Context, f TaskFilter) (TaskPage, error) {
	f.Limit = limited(f.Limit)
	if f.Status != "" {
		if err := checkStatus(f.Status); err != nil {
			return TaskPage{}, err
		}
	}
	if _, err := b.Project(ctx, f.ProjectID); err != nil {
		return TaskPage{}, err
	}
	from, err := place(f.Cursor, "tasks", f.ProjectID, string(f.Status))
	if err != nil {
		return TaskPage{}, err
	}
	// A turn that was under way may have ended: then its task is to be found under another
	// status.
	atWork, err := collect(ctx, b.db, scanRow, rowsAtWork)
	if err == nil {
		_, err = b.follow(ctx, atWork)
	}
	if err != nil {
		return TaskPage{}, err
	}
	page, changed, err := b.tasks(ctx, f, from)
	if err == nil && changed {
		page, _, err = b.tasks(ctx, f, from)
	}
	return page, err
}

// tasks reads a page, and reports whether a session of its attempts has gone on since the
// file knew of it: then the page may be another one.
func (b *Board) tasks(ctx context.Context, f TaskFilter, from after) (page TaskPage, changed bool, err error) {
	query, args := f.query(from)
	tasks, err := collect(ctx, b.db, scanTask, query, args...)
	if err != nil {
		return page, false, err
	}
	page.Limit = f.Limit
	if len(tasks) > f.Limit {
		tasks = tasks[:f.Limit]
		last := tasks[f.Limit-1]
		page.Next = after{micro(last.CreatedAt), last.ID}.cursor("tasks", f.ProjectID, string(f.Status))
	}
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	rows, err := b.rowsOf(ctx, b.db, ids...)
	if err == nil {
		changed, err = b.follow(ctx, rows)
	}
	if err != nil {
		return page, false, err
	}
	byTask := map[string][]row{}
	for len(rows) > 0 { // they are in the order of their tasks
		id, n := rows[0].TaskID, 1
		for n < len(rows) && rows[n].TaskID == id {
			n++
		}
		byTask[id], rows = rows[:n], rows[n:]
	}
	for i := range tasks {
		tasks[i].Attempts = summarize(byTask[tasks[i].ID])
	}
	page.Tasks = tasks
	return page, changed, nil
}

// query reads one task more than a page has, from a place on.
func (f TaskFilter) query(from after) (string, []any) {
	where, args := ` WHERE project_id = ? AND deleted_at IS NULL`, []any{f.ProjectID}
	if f.Status != "" {
		where, args = where+` AND status = ?`, append(args, f.Status)
	}
	cond, more := from.where("task_id")
	return taskColumns + where + cond + ` ORDER BY created_at DESC, task_id LIMIT ?`, append(append(args, more...), f.Limit+1)
}
