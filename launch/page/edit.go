package page

import "slices"

// InsertAtLineEnd returns the page with the text put at the end of the line,
// before its line end.
func (p *Page) InsertAtLineEnd(line int, text string) []byte {
	start, _ := p.lineSpan(line)
	at := start + len(p.LineText(line))
	return p.splice(at, at, text)
}

// RemoveLine returns the page without the line. When that leaves two blank
// lines together, one of them goes too.
func (p *Page) RemoveLine(line int) []byte {
	start, end := p.lineSpan(line)
	blankBefore := line > 1 && blank(p.LineText(line-1))
	if _, after := p.lineSpan(line + 1); after > end && blankBefore && blank(p.LineText(line+1)) {
		end = after
	}
	return slices.Concat(p.Source[:start], p.Source[end:])
}

// ReplaceRange returns the page with the bytes replaced. The offsets must be
// within Source, start not after end.
func (p *Page) ReplaceRange(start, end int, text string) []byte { return p.splice(start, end, text) }

func blank(line string) bool {
	for _, r := range line {
		if r != ' ' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// LineStart returns the offset of the line's first byte, or 0 if there is none.
func (p *Page) LineStart(line int) int {
	start, _ := p.lineSpan(line)
	return start
}
