package git

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/internal/proc"
)

// PushOptions says how a branch is sent.
type PushOptions struct {
	// Token is shown to a remote that is reached over HTTP, and to no other host. With it,
	// the person's credential helpers are not asked. It is in the environment of git alone.
	Token string
	// Replaces is the commit that the branch may have at the remote although it does not
	// lead to ours: one that was pushed before and was made anew since. Any other is kept.
	Replaces string
}

// Push sends a branch to a remote, under the same name, never by force but for what the
// options name. A branch that is there already is a success.
//
// It fails with PR_MANAGER_PUBLISH_FAILED: retryable when the network is to blame, not when
// the remote refused (it has other commits on the branch, a hook or a rule says no). When
// the credentials do not do, it is PR_MANAGER_AUTH_REFUSED.
func (g *Git) Push(ctx context.Context, dir, remote, branch string, o PushOptions) error {
	if err := checkRevision(remote, branch); err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	c := in(dir, "push", "--quiet", "--no-verify", "--recurse-submodules=no", "--no-follow-tags")
	if o.Replaces != "" {
		if err := checkRevision(o.Replaces); err != nil {
			return err
		}
		c.args = append(c.args, "--force-with-lease="+ref+":"+o.Replaces)
	}
	c.args = append(c.args, "--", remote, ref+":"+ref)
	if o.Token != "" {
		address, err := g.RemoteURL(ctx, dir, remote)
		if err != nil {
			return err
		}
		c.env = g.credentials(address, o.Token)
	}
	_, err := g.run(ctx, c)
	var f *failure
	switch {
	case !errors.As(err, &f):
		return err
	case f.network():
		return fault.Retry(fault.PublishFailed, "the remote %s could not be reached: %s", remote, f.reason()).Because(f)
	case f.says("non-fast-forward", "fetch first", "stale info"):
		return fault.New(fault.PublishFailed, "the remote %s has other commits on the branch %s", remote, branch).Because(f)
	case f.says("returned error: 401", "returned error: 403", "authentication failed", "could not read username", "could not read password"):
		return fault.New(fault.PublishAuth, "the remote %s does not let the branch %s be pushed: %s", remote, branch, f.reason()).Because(f)
	case f.says("! [remote rejected]", "hook declined"):
		return fault.New(fault.PublishFailed, "the remote %s refused the branch %s", remote, branch).Because(f)
	}
	return fault.New(fault.PublishFailed, "the branch %s could not be pushed to %s: %s", branch, remote, f.reason()).Because(f)
}

// credentials returns the variables with which git shows a token to the host of an address
// and follows no redirect away from it. They count on from the settings that the
// environment holds already.
func (g *Git) credentials(address, token string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
	settings := [][2]string{
		{"credential.helper", ""},
		{"http.followRedirects", "false"},
		{"http." + u.Scheme + "://" + u.Host + "/.extraHeader", "Authorization: Basic " + basic},
	}
	count, _ := strconv.Atoi(proc.Getenv(g.env, "GIT_CONFIG_COUNT"))
	var env []string
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count+i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count+i, s[1]))
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count+len(settings)), "GIT_TRACE_REDACT=1", "GIT_TRACE_CURL_NO_DATA=1")
}
