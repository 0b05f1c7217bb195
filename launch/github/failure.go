package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v75/github"

	"github.com/gantry-run/gantry/internal/fault"
)

// mostWait is how long a server that asks for patience is waited for. Beyond, the run
// fails, and somebody resumes it when the time has come.
const mostWait = time.Minute

// failed turns an error of the library into a fault: what was refused, and whether another
// attempt may help. When the server asks to be waited for, it has been waited for.
func (c *Client) failed(ctx context.Context, err error, doing string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var refused *github.ErrorResponse
	var moved *github.RedirectionError
	var own *fault.Fault
	switch {
	case errors.As(err, &own):
		return own // the policy of this program refused the address
	case errors.As(err, &primary):
		return c.limited(ctx, time.Until(primary.Rate.Reset.Time), doing)
	case errors.As(err, &secondary):
		return c.limited(ctx, secondary.GetRetryAfter(), doing)
	case errors.As(err, &moved):
		return fault.New(fault.PublishFailed, "GitHub answered with a redirect (%d) while %s", moved.StatusCode, doing).
			WithHint("the repository was renamed: give its present name")
	case errors.As(err, &refused) && refused.Response != nil:
		return c.refused(ctx, refused, doing)
	}
	return fault.Retry(fault.PublishFailed, "GitHub could not be reached while %s", doing).Because(err)
}

// limited waits for as long as the server asks.
func (c *Client) limited(ctx context.Context, wait time.Duration, doing string) error {
	wait = max(wait, 0)
	if wait > mostWait {
		return fault.New(fault.PublishFailed, "GitHub's rate limit was reached while %s; it ends in %s", doing, wait.Round(time.Second)).
			WithHint("resume the run after that")
	}
	if err := c.wait(ctx, wait); err != nil {
		return err
	}
	return fault.Retry(fault.PublishFailed, "GitHub's rate limit was reached while %s", doing)
}

// refused is the fault for an answer with a status of its own.
func (c *Client) refused(ctx context.Context, r *github.ErrorResponse, doing string) error {
	status := r.Response.StatusCode
	switch {
	case status == http.StatusTooManyRequests:
		wait, _ := time.ParseDuration(r.Response.Header.Get("Retry-After") + "s")
		return c.limited(ctx, wait, doing)
	case status >= 500:
		return fault.Retry(fault.PublishFailed, "GitHub answered %d while %s", status, doing)
	case status == http.StatusUnauthorized:
		return fault.New(fault.PublishAuth, "GitHub does not accept the token (401 while %s)", doing)
	case status == http.StatusForbidden:
		return fault.New(fault.PublishAuth, "the token may not do this (403 while %s): %.200s", doing, r.Message).
			WithHint("give the server a token that may write contents and pull requests of the repository")
	case status == http.StatusNotFound:
		return fault.New(fault.PublishFailed, "GitHub knows no such repository, or the token does not see it (404 while %s)", doing).
			WithHint("check site_repo_url or github.repository, and which repositories the token may see")
	case status == http.StatusUnprocessableEntity && alreadyExists(r):
		return fault.Retry(fault.PublishFailed, "somebody else opened the pull request in the same moment")
	case status == http.StatusUnprocessableEntity:
		return fault.New(fault.PublishFailed, "GitHub refused %s (422): %.400s", doing, reasons(r))
	}
	return fault.New(fault.PublishFailed, "GitHub answered %d while %s: %.200s", status, doing, r.Message)
}

// alreadyExists reports whether there is a pull request for the branch: it will be found.
func alreadyExists(r *github.ErrorResponse) bool {
	return strings.Contains(reasons(r), "pull request already exists")
}

// reasons is what the server says in one line.
func reasons(r *github.ErrorResponse) string {
	said := []string{r.Message}
	for _, e := range r.Errors {
		switch {
		case e.Message != "":
			said = append(said, e.Message)
		case e.Field != "":
			said = append(said, e.Field+" "+e.Code)
		}
	}
	return strings.Join(said, "; ")
}
