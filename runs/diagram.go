package runs

import (
	"fmt"
	"strings"
)

// Mermaid returns the state machine of a kind as a Mermaid state diagram, made
// from the table that [Allowed] reads: the picture in docs/state-machine.md. It is
// empty for a kind without states.
func Mermaid(k Kind) string {
	states := States(k)
	if len(states) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s\n", states[0])
	for _, t := range transitions(k) {
		fmt.Fprintf(&b, "    %s --> %s\n", t.from, t.to)
	}
	for _, s := range states {
		if s.Terminal() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	return b.String()
}
