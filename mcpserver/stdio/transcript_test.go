package stdio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each testdata/*.txt is a session to read from top to bottom:
//
//	# a comment; the first one names the promise
//	> a line of the client
//	< the line that the server answers
//	! initialize         the handshake of protocol 2025-11-25
//	! release NAME       let the tool calls that hold or are stubborn about NAME finish
//	! drain              BeginDrain
//	! eof                the end of the input
//	! sleep DURATION     time passes
//	! pause, ! resume    the client stops reading, and goes on
//	! done               every answer is written, and Wait returns nil
//
// After a line that is not an answer, what the server has written since must be
// the "<" lines that follow, no more and no less. CALL id tool arg and
// RESULT id text, CANCEL id and SHUTDOWN id stand for the JSON of such a message.
func TestTranscript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, func(tr *Transport) { tr.MaxInFlight = 2 }, func(s *session) { s.play(strings.Split(string(text), "\n")) })
		})
	}
}

// play runs the lines of a transcript.
func (s *session) play(lines []string) {
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || line[0] == '#' {
			continue
		}
		var want []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "< ") {
			i++
			want = append(want, short(lines[i][2:]))
		}
		switch line[0] {
		case '>':
			s.send(short(line[2:]))
		case '!':
			s.command(strings.Fields(line[1:]))
		default:
			s.t.Fatalf("what is %q?", line)
		}
		before := s.t.Failed()
		if s.want(want...); s.t.Failed() && !before {
			s.t.Fatalf("after %q", line)
		}
	}
}

func (s *session) command(words []string) {
	switch words[0] {
	case "initialize":
		s.handshake()
	case "release":
		s.release(words[1])
	case "drain":
		s.tr.BeginDrain()
	case "eof":
		s.in.Close()
	case "sleep":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(d)
	case "pause":
		s.out.pause()
	case "resume":
		s.out.resume()
	case "done":
		synctest.Wait()
		select {
		case <-s.tr.Done():
			if err := s.tr.Wait(s.t.Context()); err != nil {
				s.t.Errorf("Wait: %v", err)
			}
		default:
			s.t.Error("the transport is not done")
		}
	default:
		s.t.Fatalf("no command %q", words[0])
	}
}

// short expands the abbreviations of a transcript.
func short(line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "CALL":
		return callTool(words[1], words[2], words[3])
	case "RESULT":
		return result(words[1], words[2])
	case "CANCEL":
		return cancelled(words[1])
	case "SHUTDOWN":
		return shutDown(words[1])
	}
	return line
}
