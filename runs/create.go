package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/gantry-run/gantry/internal/db"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
)

// StartRequest is everything that a new run needs.
type StartRequest struct {
	ID       ID // empty: a fresh one
	Kind     Kind
	Workflow Workflow
	Input    json.RawMessage   // effective configuration; its hash decides whether two starts are the same
	Files    map[string][]byte // further files of the run's folder, by name
	Root     string
	Owner    string
	Labels   map[string]string
	Flags    map[string]bool
	Once     *Once
	CallID   string
	Tool     string
}

// Create publishes a new run, whole and durable, and returns its id. created is
// false when the request's id or idempotency key has made the run before. The
// same id with another input, or the same key with another request hash, is
// IDEMPOTENCY_CONFLICT; a key whose first call has not finished is
// IDEMPOTENCY_IN_PROGRESS, retryable. A call that dies frees its key.
func (s *Store) Create(ctx context.Context, r StartRequest) (id ID, created bool, err error) {
	if err := r.Workflow.Check(); err != nil {
		return "", false, err
	}
	if r.ID != "" && !r.ID.Valid() {
		return "", false, fault.New(fault.InvalidInput, "%.80q is not the id of a run", string(r.ID))
	}
	if r.Once == nil {
		return s.publish(ctx, r)
	}
	lock, ok, err := tryLock(filepath.Join(s.dir, "keys", keyName(r.Owner, r.Once.Key)+".lock"), unix.LOCK_EX)
	if err != nil {
		return "", false, err
	}
	if !ok {
		return "", false, fault.Retry(fault.IdempotencyInProgress, "a call with this idempotency key is under way")
	}
	defer lock.release()
	if id, ok, err := s.keyed(ctx, r); ok || err != nil {
		return id, false, err
	}
	if r.ID == "" {
		r.ID = NewID(s.now())
	}
	if err := s.index.bindKey(ctx, r.Owner, *r.Once, r.ID, s.now()); db.NoRoom(err) {
		return "", false, fault.Retry(fault.StoreFull, "there is no room left in the state directory").Because(err)
	} else if err != nil {
		return "", false, err
	}
	return s.publish(ctx, r)
}

func keyName(owner, key string) string { return digest("key", owner, key)[:32] }

// Made returns the run that the request's key has made, if it made one: what Create
// would answer with. Another hash is IDEMPOTENCY_CONFLICT.
func (s *Store) Made(ctx context.Context, r StartRequest) (id ID, made bool, err error) {
	if r.Once == nil {
		return "", false, nil
	}
	return s.keyed(ctx, r)
}

// Started returns the run that a key has made, if it made one: what [Store.Create] would
// find. The key with another hash is IDEMPOTENCY_CONFLICT.
func (s *Store) Started(ctx context.Context, owner string, o Once) (id ID, found bool, err error) {
	return s.keyed(ctx, StartRequest{Owner: owner, Once: &o})
}

// keyed finds the run that the request's key has made, if it made one.
func (s *Store) keyed(ctx context.Context, r StartRequest) (ID, bool, error) {
	id, at, err := s.index.byKey(ctx, r.Owner, r.Once.Key)
	if err != nil || id == "" || s.now().Sub(at) >= KeyLife {
		return "", false, err
	}
	v, err := s.View(id)
	if fault.Is(err, fault.RunNotFound) {
		return "", false, nil // the call died before it published the run
	}
	if err != nil {
		return "", false, err
	}
	if once := v.Created.Once; once == nil || once.Key != r.Once.Key || once.Hash != r.Once.Hash {
		return "", false, ConflictingKey(r.Once.Key)
	}
	return id, true, nil
}

// ConflictingKey is the fault for an idempotency key that comes with another request.
func ConflictingKey(key string) error {
	return fault.New(fault.IdempotencyConflict, "the idempotency key %q was used for another request", key)
}

func (s *Store) publish(ctx context.Context, r StartRequest) (ID, bool, error) {
	if r.ID == "" {
		r.ID = NewID(s.now())
	}
	sum := sha256.Sum256(r.Input)
	payload := Created{
		Kind: r.Kind, Workflow: r.Workflow, Input: r.Input, InputSHA: hex.EncodeToString(sum[:]), Root: r.Root, Owner: r.Owner,
		Labels: r.Labels, Flags: r.Flags, Once: r.Once, CallID: r.CallID, Tool: r.Tool,
	}
	tmp, err := s.build(r, payload)
	if err != nil {
		return "", false, fmt.Errorf("build the run's folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	err = journal.PublishDir(s.disk, tmp, s.Dir(r.ID), r.Kind.Durable())
	if errors.Is(err, fs.ErrExist) {
		return s.existing(r.ID, payload)
	}
	if err != nil {
		return "", false, err
	}
	v, head, err := s.viewAt(r.ID)
	if err != nil {
		return "", false, err
	}
	s.hub.notify(r.ID)
	return r.ID, true, s.index.put(ctx, v, head)
}

func (s *Store) existing(id ID, want Created) (ID, bool, error) {
	v, err := s.View(id)
	if err != nil {
		return "", false, err
	}
	if v.InputSHA != want.InputSHA || v.Kind != want.Kind {
		return "", false, fault.New(fault.IdempotencyConflict, "run %s exists with another input", id)
	}
	return id, false, nil
}

// build makes the run's folder aside.
func (s *Store) build(r StartRequest, payload Created) (dir string, err error) {
	dir, err = os.MkdirTemp(filepath.Join(s.dir, "runs"), buildPrefix+string(r.ID)+"-")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	for _, d := range []string{"artifacts", "commands", "drafts", "logs", "reports", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(keys(r.Files)) {
		if err := journal.WriteFileAtomic(s.disk, filepath.Join(dir, name), r.Files[name]); err != nil {
			return "", err
		}
	}
	e, err := NewEvent(r.ID, Draft{Type: RunCreated, Payload: payload}, s.now())
	if err != nil {
		return "", err
	}
	body, err := e.Body()
	if err != nil {
		return "", err
	}
	j, err := journal.Create(s.disk, filepath.Join(dir, "events.ndjson"))
	if err != nil {
		return "", err
	}
	defer j.Close()
	_, _, err = j.Append(r.Kind.Durable(), body)
	return dir, err
}

// buildPrefix starts the name, beside the runs, of what is being made. One that is
// found after a crash can be deleted.
const buildPrefix = ".new-"

// Scratch makes a folder on the disk of the runs for what a run may need that does not
// exist yet. The caller removes it; if it dies, the folder goes an hour after its last
// change.
func (s *Store) Scratch() (string, error) {
	return os.MkdirTemp(filepath.Join(s.dir, "runs"), buildPrefix+"scratch-")
}

func keys(m map[string][]byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
