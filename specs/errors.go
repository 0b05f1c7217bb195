package specs

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
)

// Retry says whether calling again, unchanged and later, can help.
type Retry string

// The answers. The fault itself says which holds where it depends.
const (
	RetryNo        Retry = "no"
	RetryYes       Retry = "yes"
	RetrySometimes Retry = "sometimes"
)

// ErrorInfo is what the registry says of one error code.
type ErrorInfo struct {
	Code      fault.Code `json:"code"`
	Area      string     `json:"area"`    // part of the system that it comes from
	Meaning   string     `json:"meaning"` // one sentence
	Hint      string     `json:"hint"`    // what the caller should do next
	Retryable Retry      `json:"retryable"`
	RPCCode   int        `json:"rpc_code,omitempty"` // number in a JSON-RPC error; 0: that of its style
}

// Error returns the registry's entry of a code, and whether there is one.
func Error(code fault.Code) (ErrorInfo, bool) {
	all := registry()
	i := slices.IndexFunc(all, func(e ErrorInfo) bool { return e.Code == code })
	if i < 0 {
		return ErrorInfo{}, false
	}
	return all[i], true
}

// Errors returns the whole registry, in its order: area by area.
func Errors() []ErrorInfo { return slices.Clone(registry()) }

// registry parses errors.json, once. A file that does not parse gives an empty
// registry, which the tests refuse.
var registry = sync.OnceValue(func() []ErrorInfo {
	var all []ErrorInfo
	raw, err := files.ReadFile("errors.json")
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
})
