package jobs

import (
	"github.com/gantry-run/gantry/internal/proc"
)

// Streams are the outputs of a job whose errors are kept apart.
type Streams struct {
	Stdout, Stderr string // the newest of each, made readable
	Truncated      bool   // there was older output
	TimedOut       bool   // the job was stopped since it took too long
}

// Streams returns the newest bytes, at most that many, of what a job wrote to its
// standard output and to its standard error. The errors of a job that does not keep them
// apart are among its output.
func (s *Service) Streams(j Job, most int) (Streams, error) {
	key := string(j.ID)
	st, err := s.o.Supervisor.Status(key)
	if err != nil {
		return Streams{}, gone(j.PID, err)
	}
	out := Streams{TimedOut: st.StoppedBy == proc.ByTimeout}
	if out.Stdout, err = s.newest(s.o.Supervisor.ReadFrom, key, most, &out.Truncated); err != nil {
		return Streams{}, gone(j.PID, err)
	}
	if out.Stderr, err = s.newest(s.o.Supervisor.ReadErrors, key, most, &out.Truncated); err != nil {
		return Streams{}, gone(j.PID, err)
	}
	return out, nil
}

// newest returns the end of a stream.
func (s *Service) newest(read func(key string, from int64, most int) (proc.Output, error), key string, most int, truncated *bool) (string, error) {
	head, err := read(key, 0, 1)
	if err != nil {
		return "", err
	}
	piece, err := read(key, max(0, head.Total-int64(most)), most)
	if err != nil {
		return "", err
	}
	text := proc.Text(piece.Data)
	*truncated = *truncated || piece.Offset > 0 || len(text) > most
	return newest(text, most), nil
}
