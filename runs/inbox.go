package runs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/journal"
)

// Post leaves a command for whoever drives the run. When it returns the command
// is on the disk. An unknown run is RUN_NOT_FOUND. A run whose journal is damaged is
// EVENT_CHAIN_BROKEN: nobody will ever drive it, so nobody would answer.
func (s *Store) Post(ctx context.Context, id ID, c Command) error {
	if err := s.Sound(ctx, id); err != nil {
		return err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%020d-%s.json", s.now().UnixNano(), digest(c.ID)[:12])
	tmp := filepath.Join(s.dir, "runs", buildPrefix+rand.Text()) // where it is cleared away if this process dies
	if err := journal.WriteFileVia(s.disk, tmp, filepath.Join(s.Dir(id), "commands", name), raw); err != nil {
		return err
	}
	s.hub.notify(id)
	s.post.notify(id)
	return s.index.wake(ctx, id)
}

// Sound fails with EVENT_CHAIN_BROKEN unless the run's journal can be driven: the chain
// holds, and it reaches the heads that are remembered elsewhere. A [View] is made of
// what there is, so it does not tell that the last events are gone.
func (s *Store) Sound(ctx context.Context, id ID) error {
	r, err := s.Verify(ctx, id)
	if err != nil || r.OK && r.Head.Seq > 0 {
		return err
	}
	if r.OK {
		r.FirstBad, r.Reason = 1, "it is not there"
	}
	return fault.New(fault.EventChainBroken, "the run's journal is damaged at event %d: %s", r.FirstBad, r.Reason).
		WithDetails(journal.Break{Seq: r.FirstBad, Reason: r.Reason})
}

// letter is a command that waits in a run's folder.
type letter struct {
	path string
	Command
}

// Letters returns the commands that wait for the run's driver, oldest first, and
// a function for each that throws it away once its event is durable.
func (s *Store) Letters(id ID) ([]Command, func() error, error) {
	letters, err := s.letters(id)
	out := make([]Command, len(letters))
	for i, l := range letters {
		out[i] = l.Command
	}
	return out, func() error {
		for _, l := range letters {
			if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}, err
}

func (s *Store) letters(id ID) ([]letter, error) {
	dir := filepath.Join(s.Dir(id), "commands")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out []letter
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), journal.TempPrefix) {
			continue
		}
		l := letter{path: filepath.Join(dir, e.Name())}
		raw, err := os.ReadFile(l.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // consumed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &l.Command); err != nil || l.ID == "" || l.Type == "" {
			s.log.Warn("a file among the commands is none and is left there", "run_id", string(id), "file", e.Name())
			continue
		}
		out = append(out, l)
	}
	return out, nil
}
