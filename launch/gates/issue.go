package gates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

const maxQuote = 120 // bytes of a page's text in a message

// issue returns an open issue at a line of a file. Line 0 stands for the
// whole file.
func issue(gate, code, severity, path string, line int, fix, format string, args ...any) dossier.Issue {
	i := dossier.Issue{
		Gate: gate, Code: code, Severity: severity, Status: "OPEN", Files: []string{}, SuggestedFix: fix,
		Message: fmt.Sprintf(format, args...),
	}
	if path != "" {
		i.Files = []string{path}
		i.Location = &dossier.Location{Path: path, Line: max(line, 0)}
	}
	i.ID = issueID(i)
	return i
}

// issueID returns "i" and 12 hex digits of the hash of what the issue says.
func issueID(i dossier.Issue) string {
	path, line := i.At()
	sum := sha256.Sum256([]byte(strings.Join([]string{i.Gate, i.Code, path, strconv.Itoa(line), i.Message}, "\x00")))
	return "i" + hex.EncodeToString(sum[:6])
}

// quote returns text of a page for a message: one line, printable, not long.
func quote(text string) string { return quoteUpTo(maxQuote, text) }

func quoteUpTo(limit int, text string) string {
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return strconv.Quote(text)
}
