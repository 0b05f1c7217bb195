package boardtools

import (
	"context"

	"github.com/gantry-run/gantry/agents"
	"github.com/gantry-run/gantry/mcpserver/guard"
	"github.com/gantry-run/gantry/mcpserver/tool"
	"github.com/gantry-run/gantry/specs"
)

type listExecutorsOut struct {
	Executors []executor `json:"executors"`
	Count     int        `json:"count"`
}

type executor struct {
	Name           string   `json:"executor"`
	Variants       []string `json:"variants"`
	SupportsMCP    bool     `json:"supports_mcp"`
	DefaultVariant *string  `json:"default_variant"` // none has one: without a variant an executor is as it is configured
}

func (d Deps) listExecutors(s specs.Tool) tool.Tool {
	return tool.New(s, func(ctx context.Context, _ *guard.Call, _ nothing) (listExecutorsOut, error) {
		all := converted(d.Executors(ctx), executorOut)
		return listExecutorsOut{all, len(all)}, nil
	})
}

func executorOut(c agents.CLI) executor {
	return executor{c.Name(), append([]string{}, c.Variants()...), c.SupportsMCP(), nil}
}
