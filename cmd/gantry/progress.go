package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gantry-run/gantry/runs"
)

// progress shows how a run gets on: a bar on a terminal, plain lines elsewhere.
// Either goes to standard error, so that standard output holds the result alone.
type progress struct {
	out io.Writer
	bar *progressbar.ProgressBar
}

func newProgress(std streams, id runs.ID) *progress {
	p := &progress{out: std.err}
	fmt.Fprintf(std.err, "run %s\n", id)
	if f, ok := std.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		// Every state but the two ways to fail is a step.
		p.bar = progressbar.NewOptions(len(runs.States(runs.Launch))-3, progressbar.OptionSetWriter(f),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(false))
	}
	return p
}

// event shows one event, if it is worth showing.
func (p *progress) event(e runs.Event) {
	switch e.Type {
	case runs.RunStateChanged:
		var c runs.StateChange
		if json.Unmarshal(e.Payload, &c) != nil {
			return
		}
		if p.bar == nil {
			fmt.Fprintf(p.out, "  %s\n", c.NewState)
			return
		}
		p.bar.Describe(string(c.NewState))
		_ = p.bar.Add(1) // a terminal that cannot draw is no reason to stop
	case runs.WorkItemFailed:
		var f runs.ItemFailed
		if json.Unmarshal(e.Payload, &f) == nil {
			fmt.Fprintf(p.out, "  %s: %s: %s\n", f.Worker, f.Code, f.Message)
		}
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
