// Package commitservice talks to a service that commits a change and opens its pull request,
// so that who launches needs no right to write to the site.
//
// Each request has an Idempotency-Key that is made of the run and of what is asked: the same
// request has the same key, whoever sends it and however often, and the service answers it
// as it did the first time. Another request has another key. So an interrupted caller asks
// again.
package commitservice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// SchemaVersion is the version of the contract.
const SchemaVersion = "1.0"

// CommitRequest asks for a branch with one commit.
type CommitRequest struct {
	SchemaVersion  string                `json:"schema_version"`
	RunID          string                `json:"run_id"`
	IdempotencyKey string                `json:"idempotency_key"`
	RepoURL        string                `json:"repo_url"`
	BaseRef        string                `json:"base_ref"`
	BranchName     string                `json:"branch_name"`
	AllowedPaths   []string              `json:"allowed_paths"`
	CommitMessage  string                `json:"commit_message"`
	CommitBody     string                `json:"commit_body"`
	PatchBundle    dossier.PatchBundle   `json:"patch_bundle"`
	CleanBase      bool                  `json:"require_clean_base"`
	Governance     *dossier.AIGovernance `json:"ai_governance_metadata,omitempty"`
}

// CommitResponse says what was committed.
type CommitResponse struct {
	RunID     string `json:"run_id"`
	CommitSHA string `json:"commit_sha"` // 7 hex digits at least
}

// OpenPRRequest asks for the pull request of a branch.
type OpenPRRequest struct {
	SchemaVersion  string `json:"schema_version"`
	RunID          string `json:"run_id"`
	IdempotencyKey string `json:"idempotency_key"`
	RepoURL        string `json:"repo_url"`
	BaseRef        string `json:"base_ref"`
	BranchName     string `json:"branch_name"`
	PRTitle        string `json:"pr_title"`
	PRBody         string `json:"pr_body"`
	Draft          bool   `json:"draft"`
}

// OpenPRResponse says where the pull request is.
type OpenPRResponse struct {
	RunID    string `json:"run_id"`
	PRURL    string `json:"pr_url"`
	PRNumber *int   `json:"pr_number"`
}

// Key returns the key of a request: a UUID of version 4 by its form, made of the operation
// and of the request, whose own key is to be empty.
func Key(operation string, request any) (string, error) {
	raw, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(operation+"\x00"), raw...))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"), nil
}

// Client talks to one service.
type Client struct {
	Endpoint string // base URL
	Token    string // sent as bearer token
	Agent    string // User-Agent
	HTTP     *http.Client
}

// Commit has the service commit a change.
func (c Client) Commit(ctx context.Context, r CommitRequest) (CommitResponse, error) {
	var out CommitResponse
	err := c.post(ctx, "commit", r.IdempotencyKey, r, &out)
	if err == nil && (out.RunID != r.RunID || len(out.CommitSHA) < 7) {
		err = fault.New(fault.CommitServiceError, "the commit service answered for another run, or without a commit")
	}
	return out, err
}

// OpenPR has the service open the pull request.
func (c Client) OpenPR(ctx context.Context, r OpenPRRequest) (OpenPRResponse, error) {
	var out OpenPRResponse
	err := c.post(ctx, "open_pr", r.IdempotencyKey, r, &out)
	if err == nil && (out.RunID != r.RunID || out.PRURL == "") {
		err = fault.New(fault.CommitServiceError, "the commit service answered for another run, or without a pull request")
	}
	return out, err
}

const maxAnswer = 1 << 20 // bytes

// post sends one request. What may pass is a retryable fault: the run's engine tries again.
func (c Client) post(ctx context.Context, operation, key string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.Endpoint, "/")+"/v1/"+operation, bytes.NewReader(body))
	if err != nil {
		return fault.New(fault.InvalidInput, "commit_service.endpoint_url is no URL")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("Idempotency-Key", key)
	r.Header.Set("User-Agent", c.Agent)
	answer, err := c.HTTP.Do(r)
	if err != nil {
		var own *fault.Fault
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &own):
			return own
		}
		return fault.Retry(fault.CommitServiceError, "the commit service could not be reached for %s", operation).Because(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fault.Retry(fault.CommitServiceError, "the answer of the commit service to %s broke off", operation).Because(err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return refused(operation, answer.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fault.New(fault.CommitServiceError, "the commit service answered %s with something that is no JSON", operation).Because(err)
	}
	return nil
}

// refused is the fault for an answer that is an error.
func refused(operation string, status int, raw []byte) error {
	var said struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &said) // a proxy answers in its own way
	details := map[string]any{"service_code": said.Code, "status": status}
	var f *fault.Fault
	switch {
	case status >= 500:
		f = fault.Retry(fault.CommitServiceError, "the commit service answered %d to %s: %.200s", status, operation, said.Message)
	case status == http.StatusTooManyRequests:
		f = fault.Retry(fault.CommitServiceError, "the commit service takes no more requests for now")
	case status == http.StatusUnauthorized:
		f = fault.New(fault.PublishAuth, "the commit service does not accept the token")
	case status == http.StatusForbidden && said.Code == "AUTH_INSUFFICIENT_SCOPE":
		f = fault.New(fault.PublishAuth, "the token may not do this at the commit service: %.200s", said.Message)
	case status == http.StatusForbidden && said.Code == "PATH_NOT_ALLOWED":
		f = fault.New(fault.AllowedPathsViolation, "the commit service does not let these paths be changed: %.200s", said.Message)
	case status == http.StatusConflict:
		f = fault.New(fault.CommitServiceError, "the branch exists already, or its base has moved (409): %.200s", said.Message).
			WithHint("start another run on the site as it is now")
	default:
		f = fault.New(fault.CommitServiceError, "the commit service refused %s (%d %.64s): %.200s", operation, status, said.Code, said.Message)
	}
	return f.WithDetails(details)
}
