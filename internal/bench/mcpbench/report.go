package main

import (
	"encoding/json"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// report is the JSON document printed at the end.
type report struct {
	Label       string           `json:"label,omitempty"`
	Transport   string           `json:"transport"`
	Target      string           `json:"target"`
	Protocol    string           `json:"protocol"`
	Server      json.RawMessage  `json:"server,omitempty"`
	Tools       int              `json:"tools"`
	Tool        string           `json:"tool,omitempty"`
	Concurrency int              `json:"concurrency,omitempty"`
	Calls       int64            `json:"calls"`
	Errors      errorCounts      `json:"errors"`
	FirstError  string           `json:"first_error,omitempty"`
	WallMS      float64          `json:"wall_ms,omitempty"`
	PerSecond   float64          `json:"throughput_per_s,omitempty"`
	Latency     *probe.Quantiles `json:"latency_us,omitempty"`
	Startup     *startup         `json:"startup_ms,omitempty"`
	ColdInit    *probe.Quantiles `json:"cold_to_ready_us,omitempty"`
	ColdList    *probe.Quantiles `json:"cold_to_tools_list_us,omitempty"`
	RSS         *rss             `json:"rss_kb,omitempty"`
	Progress    int64            `json:"progress_notifications,omitempty"`
}

type errorCounts struct {
	RPC       int64 `json:"rpc"`       // JSON-RPC error answers
	Tool      int64 `json:"tool"`      // results with isError
	Transport int64 `json:"transport"` // no usable answer
}

func (e errorCounts) total() int64 { return e.RPC + e.Tool + e.Transport }

type startup struct {
	Ready     float64 `json:"ready"`      // launch to initialize/discover answer
	ToolsList float64 `json:"tools_list"` // launch to first tools/list answer
}

type rss struct {
	AfterList int64 `json:"after_tools_list,omitempty"`
	End       int64 `json:"end,omitempty"`
	Peak      int64 `json:"peak,omitempty"`
}

// describe copies what is known of the server.
func (r *report) describe(c *probe.Client) {
	r.Transport, r.Target, r.Protocol, r.Server = c.Kind(), c.Target(), c.Protocol, c.Server
}

// add copies what calls took.
func (r *report) add(m probe.Measured, inFlight int) {
	r.Concurrency, r.Calls = inFlight, int64(len(m.Took))
	r.Errors = errorCounts{m.Failed[probe.RPCError], m.Failed[probe.ToolError], m.Failed[probe.TransportFailed]}
	r.FirstError, r.WallMS = m.FirstText, probe.Milliseconds(m.Wall)
	r.PerSecond = probe.Round(float64(len(m.Took))/m.Wall.Seconds(), 1)
	r.Latency = probe.Summarize(m.Took)
}
