package tokens

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

const secret = "0123456789abcdef"

func write(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestALineIsANameATokenScopesAndAnExpiry(t *testing.T) {
	sum := sha256.Sum256([]byte("of the hash, 16+"))
	s, err := Open(Options{Text: strings.Join([]string{
		"# people", "", "ci:" + secret, " both : aaaaaaaaaaaaaaaaaaaa : run,read,run", "ops:bbbbbbbbbbbbbbbbbbbb:admin;look:cccccccccccccccccccc:read",
		"hashed:sha256=" + hex.EncodeToString(sum[:]) + ":read:2030-01-01T00:00:00Z", "ci:dddddddddddddddddddd::2030-01-01T00:00:00+02:00",
	}, "\n"), Now: func() time.Time { return time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	for shown, want := range map[string]Identity{
		secret:                 {"ci", []string{"read", "run"}},
		"aaaaaaaaaaaaaaaaaaaa": {"both", []string{"read", "run"}},
		"bbbbbbbbbbbbbbbbbbbb": {"ops", []string{"admin"}},
		"cccccccccccccccccccc": {"look", []string{"read"}},
		"of the hash, 16+":     {"hashed", []string{"read"}},
		"dddddddddddddddddddd": {"ci", []string{"read", "run"}},
	} {
		if who, ok := s.Find(shown); !ok || !reflect.DeepEqual(who, want) {
			t.Errorf("%s is %+v, %v", shown, who, ok)
		}
	}
	for _, unknown := range []string{"", secret + "x", secret[1:], "sha256=" + hex.EncodeToString(sum[:]), "ci:" + secret, "ci"} {
		if who, ok := s.Find(unknown); ok {
			t.Errorf("%q is %+v", unknown, who)
		}
	}
	if got := s.Secrets(); len(got) != 5 || got[0] != secret {
		t.Errorf("secrets: %q", got)
	}
}

func TestAnExpiredTokenIsUnknown(t *testing.T) {
	now := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	s, err := Open(Options{Text: "a:" + secret + ":read:2027-01-31T00:00:01Z", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Find(secret); !ok {
		t.Error("a second before its expiry it is unknown")
	}
	now = now.Add(time.Second)
	if _, ok := s.Find(secret); ok {
		t.Error("it outlives its expiry")
	}
}

func TestLinesThatAreNoTokensAreRefusedAndNotRepeated(t *testing.T) {
	for name, line := range map[string]string{
		"no token": "ci", "an empty token": "ci:", "a short token": "ci:hunter2", "no name": ":" + secret, "an odd name": "c i:" + secret,
		"a long name": strings.Repeat("n", 65) + ":" + secret, "a space in a token": "ci:0123456789 abcdef", "a scope that is none": "ci:" + secret + ":write",
		"an empty scope": "ci:" + secret + ":read,", "an odd expiry": "ci:" + secret + "::tomorrow", "a short hash": "ci:sha256=abcd",
		"a token twice": "ci:" + secret + "\nother:" + secret,
	} {
		_, err := Open(Options{Text: line})
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != fault.ConfigInvalid {
			t.Errorf("%s: %v", name, err)
		} else if said := f.Message + f.Hint; strings.Contains(said, secret) || strings.Contains(said, "hunter2") || !strings.Contains(said, "line ") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

func TestTheFileIsReadAgainWhenItChanges(t *testing.T) {
	path, at := filepath.Join(t.TempDir(), "tokens"), time.Unix(1_800_000_000, 0)
	write(t, path, "a:"+secret+"\n", at)
	s, err := Open(Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	has := func(secret string, want bool) {
		t.Helper()
		if _, ok := s.Find(secret); ok != want {
			t.Errorf("%s is known: %v", secret, ok)
		}
	}
	has(secret, true)
	write(t, path, "b:fedcba9876543210\n", at.Add(time.Second))
	has(secret, false)
	has("fedcba9876543210", true)
	write(t, path, "b:short\n", at.Add(2*time.Second)) // what cannot be understood changes nothing
	has("fedcba9876543210", true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	has("fedcba9876543210", false)
	if !s.Configured() {
		t.Error("without its file the store lets everybody in")
	}
	write(t, path, "a:"+secret+"\n", at.Add(3*time.Second))
	has(secret, true)
}

func TestAFileWithoutTokensIsAMistake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	for _, text := range []string{"", "# nobody\n\n"} {
		write(t, path, text, time.Unix(1_800_000_000, 0))
		if _, err := Open(Options{File: path}); fault.From(err) == nil || fault.From(err).Code != fault.ConfigInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Open(Options{File: path + ".none"}); fault.From(err) == nil || fault.From(err).Code != fault.ConfigInvalid {
		t.Errorf("no file: %v", err)
	}
	s, err := Open(Options{})
	if err != nil || s.Configured() {
		t.Errorf("without any source: %v, %v", s.Configured(), err)
	}
}
