package patch

import (
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// DiffReport returns reports/diff_report.md: what a bundle changes and, from
// result, what applying it did. It holds no time, so equal launches give equal bytes.
func DiffReport(bundle dossier.PatchBundle, result Result) []byte {
	var b strings.Builder
	b.WriteString("# Changes to the site\n\n")
	fmt.Fprintf(&b, "Base commit: `%s`\n\n", bundle.BaseRef)
	fmt.Fprintf(&b, "%d patches: %d applied, %d already there.\n", len(bundle.Patches), len(result.Applied), len(result.AlreadyApplied))
	b.WriteString("\n## Files\n\n")
	if len(result.Changes) == 0 {
		b.WriteString("No file changed.\n")
	} else {
		b.WriteString("| File | Change | Lines added | Lines removed |\n|---|---|---:|---:|\n")
	}
	for _, c := range result.Changes {
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d |\n", c.Path, kind(c), c.Added, c.Removed)
	}
	b.WriteString("\n## Patches\n\n| Patch | Type | File | State |\n|---|---|---|---|\n")
	applied := map[string]bool{}
	for _, id := range result.Applied {
		applied[id] = true
	}
	for _, p := range bundle.Patches {
		state := "already there"
		if applied[p.ID] {
			state = "applied"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", p.ID, p.Type, p.Path, state)
	}
	return []byte(b.String())
}

func kind(c Change) string {
	switch {
	case c.Created:
		return "created"
	case c.Deleted:
		return "deleted"
	}
	return "updated"
}
