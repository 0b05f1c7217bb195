// Package tokens knows the bearer tokens of the HTTP transport.
//
// Tokens come from a file and from an environment variable, never from a flag, which
// every process of the machine could read. Both hold one token a line:
//
//	# name:token[:scopes[:expiry]]
//	ci:3c0f…:read,run
//	dashboard:sha256=9f86…:read:2027-01-31T00:00:00Z
//
// The name is who calls: the key of the rate limit and the owner of the runs that the token
// starts. Several lines may have one name, so that a token can be replaced without a gap. A
// token is at least 16 characters, or its SHA-256 so that the file holds no secret. Scopes are
// read, run and admin, separated by commas; none means read and run. The expiry is RFC 3339.
//
// Only hashes are kept, and each look-up compares with all of them in constant time. The
// file is read again when it changes. A file that is gone holds no tokens; one that cannot
// be understood changes nothing, and the log says why.
package tokens

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/fault"
)

// The scopes of a token.
const (
	ScopeRead  = "read"
	ScopeRun   = "run"
	ScopeAdmin = "admin"
)

// minLength is the shortest token, in bytes. A shorter one could be guessed.
const minLength = 16

// maxName is the longest name, in bytes.
const maxName = 64

// Identity is who a token stands for.
type Identity struct {
	Name   string   // never empty
	Scopes []string // sorted, without duplicates
}

// token is one line.
type token struct {
	Identity
	sum     [sha256.Size]byte
	expires time.Time // zero: never
	secret  string    // as written; "" when the line has the hash
}

// parse reads lines. Its errors are CONFIG_INVALID, name the line and hold nothing of it.
func parse(text string) (all []token, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		t, problem := parseLine(line)
		if problem == "" && slices.ContainsFunc(all, func(other token) bool { return other.sum == t.sum }) {
			problem = "the token is on another line too"
		}
		if problem != "" {
			return nil, fault.New(fault.ConfigInvalid, "line %d of the tokens: %s", n, problem).
				WithHint("a line is name:token[:scopes[:expiry]]; openssl rand -hex 32 makes a token")
		}
		all = append(all, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the tokens cannot be read").Because(err)
	}
	return all, nil
}

// parseLine reads a line, or says what is wrong with it.
func parseLine(line string) (t token, problem string) {
	fields := append(strings.SplitN(line, ":", 4), "", "", "")
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
	}
	if t.Name = fields[0]; !validName(t.Name) {
		return t, "a name is 1 to 64 letters, digits, dots, hyphens and underscores"
	}
	if problem = t.read(fields[1]); problem != "" {
		return t, problem
	}
	if t.Scopes, problem = parseScopes(fields[2]); problem != "" {
		return t, problem
	}
	if fields[3] != "" {
		expires, err := time.Parse(time.RFC3339, fields[3])
		if err != nil {
			return t, "the expiry is no RFC 3339 time, such as 2027-01-31T00:00:00Z"
		}
		t.expires = expires
	}
	return t, ""
}

// read takes the second field: the token, or its hash.
func (t *token) read(field string) (problem string) {
	if sum, ok := strings.CutPrefix(field, "sha256="); ok {
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != sha256.Size {
			return "sha256= is followed by 64 hexadecimal digits"
		}
		copy(t.sum[:], raw)
		return ""
	}
	if len(field) < minLength {
		return "a token has at least 16 characters"
	}
	for _, c := range []byte(field) {
		if c <= ' ' || c > '~' {
			return "a token is printable ASCII without spaces"
		}
	}
	t.sum, t.secret = sha256.Sum256([]byte(field)), field
	return ""
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return 0 < len(name) && len(name) <= maxName
}

func parseScopes(field string) (scopes []string, problem string) {
	if field == "" {
		return []string{ScopeRead, ScopeRun}, ""
	}
	for _, s := range strings.Split(field, ",") {
		if s = strings.TrimSpace(s); s != ScopeRead && s != ScopeRun && s != ScopeAdmin {
			return nil, "scopes are read, run and admin, separated by commas"
		}
		scopes = append(scopes, s)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), ""
}

// find looks for a token. It takes the same time wherever the token is, and whether it is
// there or not. An expired token is as unknown as any other.
func find(all []token, secret string, now time.Time) (who Identity, ok bool) {
	sum := sha256.Sum256([]byte(secret))
	at := -1
	for i := range all {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], all[i].sum[:]), i, at)
	}
	if at < 0 || !all[at].expires.IsZero() && !now.Before(all[at].expires) {
		return Identity{}, false
	}
	return all[at].Identity, true
}
