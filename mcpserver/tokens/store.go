package tokens

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// Options say where tokens come from.
type Options struct {
	File string           // "": no file
	Text string           // of the environment; a semicolon ends a line as well
	Now  func() time.Time // default [time.Now]
	Log  *slog.Logger     // nil: nothing is logged
}

// Store is the tokens that hold now. It may be used by several goroutines.
type Store struct {
	o     Options
	fixed []token // of the environment

	mu   sync.Mutex
	seen stamp
	read []token // of the file
}

// stamp tells one content of a file from another.
type stamp struct {
	size    int64
	changed time.Time
	there   bool
}

// Open reads the tokens. A file that is not there, a line that is no token and a file
// without any token are CONFIG_INVALID.
func Open(o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o}
	var err error
	if s.fixed, err = parse(strings.ReplaceAll(o.Text, ";", "\n")); err != nil {
		return nil, err
	}
	if o.File == "" {
		return s, nil
	}
	if err := s.load(s.look()); err != nil {
		return nil, err
	}
	switch {
	case !s.seen.there:
		return nil, fault.New(fault.ConfigInvalid, "the file of tokens is not there").WithHint("write one line name:token into it; openssl rand -hex 32 makes a token")
	case len(s.read) == 0:
		return nil, fault.New(fault.ConfigInvalid, "the file of tokens holds none").WithHint("write one line name:token into it; openssl rand -hex 32 makes a token")
	}
	return s, nil
}

// LogTo sends what is logged from now on to another logger. It is for before the first Find.
func (s *Store) LogTo(log *slog.Logger) { s.o.Log = log }

// Configured reports whether callers have to show a token: whether there is a source of
// tokens, even one that holds none any more.
func (s *Store) Configured() bool { return s.o.File != "" || len(s.fixed) > 0 }

// Find returns who shows a token. A token that is unknown or has expired is not ok.
func (s *Store) Find(secret string) (who Identity, ok bool) {
	return find(s.all(), secret, s.o.Now())
}

// Secrets returns the tokens that are written out, to be masked wherever text leaves.
func (s *Store) Secrets() (out []string) {
	for _, t := range s.all() {
		if t.secret != "" {
			out = append(out, t.secret)
		}
	}
	return out
}

// all returns the tokens of both sources, the file's as it is now.
func (s *Store) all() []token {
	if s.o.File == "" {
		return s.fixed
	}
	now := s.look()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now != s.seen {
		if err := s.load(now); err != nil {
			s.o.Log.Warn("the file of tokens changed and cannot be used; the tokens that it held before stay", "error", err.Error())
		}
	}
	return slices.Concat(s.fixed, s.read)
}

func (s *Store) look() stamp {
	info, err := os.Stat(s.o.File)
	if err != nil {
		return stamp{there: !errors.Is(err, fs.ErrNotExist)}
	}
	return stamp{info.Size(), info.ModTime(), true}
}

// load reads the file, which looks like now.
func (s *Store) load(now stamp) error {
	s.seen = now // also of a file that cannot be used: it is complained about once
	if !now.there {
		s.read = nil
		return nil
	}
	raw, err := os.ReadFile(s.o.File)
	if err != nil {
		return fault.New(fault.ConfigInvalid, "the file of tokens cannot be read").Because(err)
	}
	all, err := parse(string(raw))
	if err != nil {
		return err
	}
	s.read = all
	return nil
}
