package boardtools

import "github.com/gantry-run/gantry/board/changes"

// blocked is how a result says that something was held back. That is no error: the
// caller may ask for less, or insist.
type blocked struct {
	Blocked   bool            `json:"blocked"`
	Reason    *changes.Reason `json:"blocked_reason"`
	Code      string          `json:"code,omitempty"`
	Retryable *bool           `json:"retryable,omitempty"`
	Hint      string          `json:"hint,omitempty"`
}

func blockedOut(is bool, why changes.Reason) blocked {
	if !is {
		return blocked{}
	}
	never := false
	return blocked{true, &why, "blocked_guardrails", &never, hints()[why]}
}

// hints say what to do about each reason.
func hints() map[changes.Reason]string {
	return map[changes.Reason]string{
		changes.SummaryFailed:        "git could not compare the worktree: get_attempt_status says whether the attempt still works, get_attempt_file reads single files",
		changes.ThresholdExceeded:    "call again with force=true if a long answer is acceptable, or read single files with get_attempt_file",
		changes.PathOutsideWorkspace: "begin each path with the name of a repository of the attempt, as get_attempt_changes does, without .. and links that lead out; NAME/. is all of one",
		changes.SizeExceeded:         "lower max_bytes, and of a file read the next piece with start",
		changes.TooManyPaths:         "call again with at most 100 paths; a folder stands for all in it",
	}
}
