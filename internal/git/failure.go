package git

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// failure is a run of git that ended with another code than 0.
type failure struct {
	name   string
	exit   int
	stderr string // redacted
}

func (f *failure) Error() string {
	if why := f.reason(); why != "" {
		return fmt.Sprintf("git %s failed: %s", f.name, why)
	}
	return fmt.Sprintf("git %s exited with code %d", f.name, f.exit)
}

// reason returns the line of git's messages that says most.
func (f *failure) reason() string {
	for _, start := range []string{"fatal: ", "error: ", "ssh: ", "remote: ", " ! "} {
		for line := range strings.Lines(f.stderr) {
			if why, ok := strings.CutPrefix(line, start); ok {
				return strings.TrimRight(strings.TrimSpace(why), ".")
			}
		}
	}
	return ""
}

func (f *failure) says(any ...string) bool {
	text := strings.ToLower(f.stderr)
	for _, phrase := range any {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// network reports whether trying again later may help.
func (f *failure) network() bool {
	return f.says("could not resolve", "connection refused", "connection timed out", "operation timed out", "connection reset", "connection closed",
		"unable to connect", "failed to connect", "couldn't connect", "network is unreachable", "no route to host", "temporary failure",
		"hung up unexpectedly", "early eof", "rpc failed", "unexpected disconnect", "gnutls", "ssl_", "ssl connect", "curl 56", "curl 28", "timed out",
		"returned error: 5", "returned error: 429")
}

// noRepository reports whether there is no such repository, or none for us: hosts
// answer the same to both.
func (f *failure) noRepository() bool {
	return f.says("repository not found", "does not appear to be a git repository", "' does not exist", "' not found", "not exported",
		"could not read username", "could not read password", "prompts disabled", "authentication failed", "permission denied",
		"returned error: 401", "returned error: 403", "returned error: 404", "host key verification failed")
}

// noRef reports whether the repository does not have or give what was asked for.
func (f *failure) noRef() bool {
	return f.says("couldn't find remote ref", "not our ref", "unadvertised object", "does not allow request")
}

// remoteFault turns the failure of a call to a remote into the fault that says why.
// what names the remote without secrets. Other errors stay as they are.
func remoteFault(err error, what string) error {
	var f *failure
	if !fault.Is(err, fault.ProcessFailed) || !errors.As(err, &f) {
		return err
	}
	switch {
	case f.network():
		return fault.Retry(fault.CloneFailed, "%s could not be reached: %s", what, f.reason()).Because(f)
	case f.noRepository():
		return fault.New(fault.RepoNotFound, "%s does not exist, or git has no access to it", what).Because(f).
			WithHint("check the URL; a private repository needs a credential helper or an ssh key that works without a prompt")
	}
	return fault.New(fault.CloneFailed, "%s could not be fetched: %s", what, f.reason()).Because(f)
}

var (
	userinfo = lazyregexp.New(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s'"]*@`)
	// userinfoOfHTTP leaves the user name of an ssh URL, which is no secret.
	userinfoOfHTTP = lazyregexp.New(`^(https?://)[^/]*@`)
	quoted         = lazyregexp.New(`(['"])/[^'"]*(['"])`)
	plainPath      = lazyregexp.New(`(^|[\s(=:,'"])/[^/\s'":,)][^\s'":,)]*`)
	fileURL        = lazyregexp.New(`file://[^\s'"]*`)
)

// redact removes user names and passwords of URLs, the known folders, and whatever
// else looks like an absolute path.
func redact(text string, known ...string) string {
	for _, dir := range known {
		if len(dir) > 1 {
			text = strings.ReplaceAll(text, dir, "<path>")
		}
	}
	text = userinfo.ReplaceAllString(text, "$1")
	text = fileURL.ReplaceAllString(text, "<path>")
	text = quoted.ReplaceAllString(text, "$1<path>$2")
	return plainPath.ReplaceAllString(text, "$1<path>")
}
