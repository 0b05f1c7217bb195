package main

import (
	"os"

	"github.com/gantry-run/gantry/internal/proc"
)

// becomeShim does not return when this program was started to supervise a process,
// with the hidden command __shim. That needs none of what a server builds.
func becomeShim() {
	if proc.IsShim(os.Args) {
		os.Exit(proc.Shim(os.Args))
	}
}
