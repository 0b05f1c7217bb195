package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gantry-run/gantry/internal/proc"
)

// MessageBytes is how much output one message holds at most.
const MessageBytes = 8192

// DefaultLines is how many lines of output a caller gets that does not say.
const DefaultLines = 200

// OutputRequest says which output to return.
type OutputRequest struct {
	Lines int    // how many; [DefaultLines] when 0
	From  *int64 // read on from this byte; nil: the last lines
	Mark  bool   // begin with a line that says what is left out
}

// Output is a piece of a job's output, made readable.
type Output struct {
	Lines      []string // together at most MessageBytes, without the mark
	TotalLines int64    // written so far
	TotalBytes int64    // written so far
	Truncated  bool     // there is older output than Lines
	Full       bool     // older output is left out whatever the request
	Next       int64    // where to read on
}

// Output returns the last lines of a job's output, or those from a byte on. It does not
// wait for more.
func (s *Service) Output(ctx context.Context, owner string, pid int, r OutputRequest) (Output, error) {
	j, err := s.Find(ctx, owner, pid)
	if err != nil {
		return Output{}, err
	}
	if r.Lines <= 0 {
		r.Lines = DefaultLines
	}
	key := string(j.ID)
	var piece proc.Output
	if r.From == nil {
		piece, err = s.tail(key, r.Lines, MessageBytes)
	} else {
		piece, err = s.from(key, *r.From, r.Lines)
	}
	if err != nil {
		return Output{}, gone(pid, err)
	}
	extent, err := s.o.Supervisor.Extent(key)
	if err != nil {
		return Output{}, gone(pid, err)
	}
	text := proc.Text(piece.Data)
	ring := int64(s.o.Output.Lines)
	if ring <= 0 {
		ring = defaultRing
	}
	out := Output{
		Lines: split(newest(text, MessageBytes)), TotalLines: extent.Lines, TotalBytes: extent.Total, Next: piece.Next,
		Truncated: piece.Offset > 0 || len(text) > MessageBytes, Full: extent.DroppedBytes > 0 || extent.Lines > ring,
	}
	if r.Mark && (r.From == nil && out.Truncated || piece.Dropped > 0) {
		out.Lines = append([]string{mark(r, piece)}, out.Lines...)
	}
	return out, nil
}

// defaultRing is the supervisor's own number of lines.
const defaultRing = 1000

// mark is the line that stands for what is left out.
func mark(r OutputRequest, piece proc.Output) string {
	switch {
	case r.From != nil:
		return fmt.Sprintf("[%d bytes before this are no longer kept]", piece.Dropped)
	case piece.Lines > 0:
		return fmt.Sprintf("[%d older lines, %d bytes, left out]", piece.Lines, piece.Offset)
	}
	return fmt.Sprintf("[%d older bytes left out]", piece.Offset)
}

// from reads on from a byte: whole lines if it can, and no more of them than asked for.
func (s *Service) from(key string, at int64, lines int) (proc.Output, error) {
	out, err := s.o.Supervisor.ReadFrom(key, at, MessageBytes)
	if err == nil && len(proc.Text(out.Data)) > MessageBytes { // what is no text grows
		out, err = s.o.Supervisor.ReadFrom(key, at, MessageBytes/len("\uFFFD"))
	}
	if err != nil {
		return out, err
	}
	end := 0
	for ; lines > 0; lines-- {
		i := bytes.IndexByte(out.Data[end:], '\n')
		if i < 0 {
			return out, nil
		}
		end += i + 1
	}
	out.Data, out.Next = out.Data[:end], out.Offset+int64(end)
	return out, nil
}

func (s *Service) tail(key string, lines, most int) (proc.Output, error) {
	return s.o.Supervisor.Tail(key, lines, most)
}

// Raw returns at most [RawBytes] of a job's output from a byte on, as it was written, and
// where to read on.
func (s *Service) Raw(j Job, from int64) (data []byte, next int64, err error) {
	out, err := s.o.Supervisor.ReadFrom(string(j.ID), from, RawBytes)
	return out.Data, out.Next, err
}

// RawBytes is how much raw output is returned at once.
const RawBytes = 256 << 10

// gone says of output that was removed between two looks that there is no such job.
func gone(pid int, err error) error {
	if errors.Is(err, proc.ErrNoProcess) {
		return notFound(pid)
	}
	return err
}

// split returns the lines of a text. A newline at its end begins no line.
func split(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
