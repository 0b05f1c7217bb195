package jobs

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/proc"
	"github.com/gantry-run/gantry/runs"
)

// State is how a job is, in the words of the wire.
type State string

// The states of a job.
const (
	Running State = "running"
	Exited  State = "exited" // it ended by itself, with whatever code
	Failed  State = "failed" // it never started, was lost, or a signal ended it
)

// Job is one execution of a target.
type Job struct {
	ID         runs.ID
	PID        int // of the target's own process; 0 if it never started
	UniqueName string
	State      State
	Started    time.Time
	Ended      time.Time // zero while it runs
	Command    string    // as a person would type it
	Args       []string  // the caller's
	Cwd        string    // relative to the root
	FilePath   string    // that defines the target, relative to the root
	Runner     string
	Keep       bool
	ExitCode   *int   // if it exited
	Signal     string // that ended it
	Error      string // why it failed, a sentence
}

// job returns the job of a run. What nobody has recorded yet, since nobody drives the
// run, is asked of the supervisor.
func (s *Service) job(v *runs.View) (Job, error) {
	in, err := inputOf(v)
	if err != nil {
		return Job{}, err
	}
	j := Job{
		ID: v.RunID, UniqueName: in.UniqueName, State: Running, Started: v.CreatedAt, Command: in.Command, Args: in.Args,
		Cwd: in.Cwd, FilePath: in.FilePath, Runner: in.Runner, Keep: in.Keep,
	}
	if p := v.Process; p != nil {
		j.PID, j.ExitCode, j.Signal = p.PID, p.ExitCode, p.Signal
	}
	if !v.State.Terminal() {
		if !s.o.HandOff.attends(v.RunID) {
			err = s.correct(&j)
		}
		return j, err
	}
	j.Ended = *v.FinishedAt
	switch v.State {
	case runs.StateExited:
		j.State = Exited
	case runs.StateCancelled:
		j.State, j.Error = Failed, "it was cancelled"
	default:
		j.State, j.Error = Failed, reason(v)
	}
	return j, nil
}

// reason says why a run failed, in one sentence.
func reason(v *runs.View) string {
	said := "it failed"
	if v.Failure != nil {
		said = v.Failure.Message
	}
	if v.Process != nil && v.Process.Note != "" && !strings.Contains(said, v.Process.Note) {
		said += " (" + v.Process.Note + ")"
	}
	return clip(said, maxError)
}

const maxError = 500

// correct says of a job that nobody drives what its process is really doing.
func (s *Service) correct(j *Job) error {
	st, err := s.o.Supervisor.Status(string(j.ID))
	if errors.Is(err, proc.ErrNoProcess) {
		return nil // it is about to be started, or its driver will find out that it never was
	}
	if err != nil {
		return err
	}
	if j.PID == 0 {
		j.PID = st.PID
	}
	if !st.State.Ended() {
		return nil
	}
	j.Ended = st.Ended
	if st.State == proc.Exited && st.Signal == "" {
		j.State, j.ExitCode = Exited, &st.Exit
		return nil
	}
	j.State, j.Signal, j.Error = Failed, st.Signal, clip(note(st), maxError)
	return nil
}

// clip shortens a text to a number of bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}

// newest returns the last bytes of a text, from the beginning of a character on.
func newest(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}
