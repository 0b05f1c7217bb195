package boardtools

import (
	"encoding/json"

	"github.com/gantry-run/gantry/agents/entries"
)

// entry is an entry of a log: in its place, as it is stored.
type entry struct {
	Index int64           `json:"entry_index"`
	Entry json.RawMessage `json:"entry"`
}

func entryOut(i entries.Item) entry { return entry(i) }
