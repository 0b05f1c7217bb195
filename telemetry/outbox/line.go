package outbox

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/gantry-run/gantry/telemetry"
)

// runsPath is the collection of records in the API.
const runsPath = "/api/v1/runs"

// line is one request, as a line of an outbox. Its members, and those of the payload, are
// sorted.
type line struct {
	Endpoint  string          `json:"endpoint"`
	Method    string          `json:"method"`
	Payload   json.RawMessage `json:"payload"`
	Timestamp time.Time       `json:"timestamp"`
}

// recordLine is the request that posts a record.
func recordLine(r telemetry.Record, now time.Time) []byte {
	return encode(line{runsPath, "POST", sorted(encode(r)), now})
}

// commitLine is the request that says that a commit was made of a record's work.
func commitLine(eventID string, c telemetry.Commit, now time.Time) []byte {
	body := struct {
		Author string     `json:"commit_author,omitempty"`
		Hash   string     `json:"commit_hash"`
		Source string     `json:"commit_source"`
		Time   *time.Time `json:"commit_timestamp,omitempty"`
	}{Author: c.Author, Hash: c.Hash, Source: c.Source}
	if !c.Time.IsZero() {
		at := c.Time.UTC()
		body.Time = &at
	}
	return encode(line{pathOfRecord(eventID) + "/associate-commit", "POST", encode(body), now})
}

func pathOfRecord(eventID string) string { return runsPath + "/" + url.PathEscape(eventID) }

// parseLine reads a line. ok is false for one that this package did not write, as it is
// after a kill in the middle of a write.
func parseLine(raw []byte) (l line, ok bool) {
	err := json.Unmarshal(raw, &l)
	under := l.Endpoint == runsPath || strings.HasPrefix(l.Endpoint, runsPath+"/")
	return l, err == nil && under && l.Method == "POST" && len(l.Payload) > 0 && l.Payload[0] == '{'
}

// isRecord reports whether the line posts a record.
func (l line) isRecord() bool { return l.Endpoint == runsPath }

// amendable are the members of a record that can change after it was posted.
var amendable = [...]string{
	"context_json", "duration_ms", "end_time", "error_details", "error_summary", "metrics_json", "output_summary", "status",
}

// amendment returns what brings a record that the API has already up to date: nil if
// there is nothing to do. answer is what the API said to the line, either that it created
// the record, or that it has it, or the record as it has it.
func (l line) amendment(answer []byte) (path string, payload []byte) {
	var ours struct {
		EventID string           `json:"event_id"`
		Status  telemetry.Status `json:"status"`
	}
	var theirs struct {
		Status string `json:"status"`
	}
	if json.Unmarshal(l.Payload, &ours) != nil || json.Unmarshal(answer, &theirs) != nil || ours.Status == telemetry.StatusRunning ||
		theirs.Status == "" || theirs.Status == "created" || theirs.Status == string(ours.Status) {
		return "", nil
	}
	all, some := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal(l.Payload, &all) != nil {
		return "", nil
	}
	for _, name := range amendable {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	return pathOfRecord(ours.EventID), encode(some)
}

// sorted sorts the members of an object.
func sorted(object []byte) []byte {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &members); err != nil {
		return object
	}
	return encode(members)
}

// encode returns JSON without escapes that only HTML needs.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
