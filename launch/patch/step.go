package patch

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// Why a patch does not fit. The texts are part of the conflict report.
var (
	errExists          = errors.New("the file exists with other content")
	errAbsent          = errors.New("the file does not exist")
	errBefore          = errors.New("the file is not the one that the patch expects")
	errRange           = errors.New("the line range is out of bounds")
	errAnchorMissing   = errors.New("the anchor line is missing")
	errAnchorAmbiguous = errors.New("the anchor line occurs more than once")
	errContentHash     = errors.New("the content does not match its hash")
	errNothing         = errors.New("the patch brings nothing")
)

// step returns the file after one patch; the same file means already applied.
func step(now content, p dossier.Patch) (content, error) {
	if p.ContentHash != seal(p).ContentHash {
		return now, errContentHash
	}
	switch p.Type {
	case dossier.CreateFile:
		return create(now, p)
	case dossier.DeleteFile:
		return remove(now, p)
	}
	if !now.exists {
		return now, errAbsent
	}
	var text string
	var err error
	switch p.Type {
	case dossier.UpdateFileRange:
		text, err = replaceRange(now.text, p)
	case dossier.UpdateByAnchor:
		text, err = insertAfter(now.text, p)
	case dossier.UpdateFrontmatterKeys:
		text, err = setFrontmatter(now.text, p)
	default:
		err = fmt.Errorf("unknown patch type %q", shorten(p.Type))
	}
	if err != nil {
		return now, err
	}
	return content{true, text}, nil
}

func create(now content, p dossier.Patch) (content, error) {
	if now.text != "" && now.text != p.NewContent {
		return now, errExists
	}
	return content{true, p.NewContent}, nil
}

func remove(now content, p dossier.Patch) (content, error) {
	if now.exists && p.ExpectedBeforeHash != "" && Hash([]byte(now.text)) != p.ExpectedBeforeHash {
		return now, errBefore
	}
	return content{}, nil
}

// replaceRange replaces lines. When the file is not the expected one, or no one
// is named, a file that has the new lines in place counts as done.
func replaceRange(text string, p dossier.Patch) (string, error) {
	lines, brings := splitLines(text), splitLines(p.NewContent)
	expected := p.ExpectedBeforeHash != "" && Hash([]byte(text)) == p.ExpectedBeforeHash
	if !expected {
		if inPlace(lines, brings, p.StartLine) {
			return text, nil
		}
		if p.ExpectedBeforeHash != "" {
			return "", errBefore
		}
	}
	if p.StartLine < 1 || p.EndLine < p.StartLine-1 || p.EndLine > len(lines) {
		return "", errRange
	}
	head := strings.Join(lines[:p.StartLine-1], "")
	return head + p.NewContent + strings.Join(lines[p.EndLine:], ""), nil
}

// inPlace reports whether the lines from start on are those brought. Bringing
// nothing is done only when nothing is left.
func inPlace(lines, brings []string, start int) bool {
	if len(brings) == 0 {
		return len(lines) == 0
	}
	if start < 1 || start-1+len(brings) > len(lines) {
		return false
	}
	for i, line := range brings {
		if lines[start-1+i] != line {
			return false
		}
	}
	return true
}

// insertAfter puts whole lines after the anchor, unless they are in the file already.
func insertAfter(text string, p dossier.Patch) (string, error) {
	if p.NewContent == "" {
		return "", errNothing
	}
	brings := withNewline(p.NewContent)
	lines := splitLines(text)
	for i := range lines {
		if inPlace(lines, splitLines(brings), i+1) {
			return text, nil
		}
	}
	at := -1
	for i, line := range lines {
		if strings.TrimRight(line, "\r\n") != p.Anchor {
			continue
		}
		if at >= 0 {
			return "", errAnchorAmbiguous
		}
		at = i
	}
	if at < 0 {
		return "", errAnchorMissing
	}
	head := withNewline(strings.Join(lines[:at+1], ""))
	return head + brings + strings.Join(lines[at+1:], ""), nil
}

func withNewline(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
