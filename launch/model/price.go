package model

import (
	"strings"

	"github.com/gantry-run/gantry/runs"
)

// prices are dollars for a million tokens, by how a model's name begins.
var prices = [...]struct {
	model         string
	input, output float64
}{
	{"claude-sonnet-4-5", 3, 15}, {"claude-opus-4", 15, 75}, {"claude-haiku-4-5", 0.80, 4},
}

// cost returns what a call cost in dollars, or nil where the price is not known. A name
// may have its provider in front: "anthropic/claude-sonnet-4-5".
func cost(model string, usage runs.ModelTokens) *float64 {
	name := strings.ReplaceAll(model[strings.LastIndex(model, "/")+1:], ".", "-")
	for _, p := range prices {
		if strings.HasPrefix(name, p.model) {
			dollars := (float64(usage.Input)*p.input + float64(usage.Output)*p.output) / 1e6
			return &dollars
		}
	}
	return nil
}
