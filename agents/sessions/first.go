package sessions

import "github.com/gantry-run/gantry/runs"

// First returns a session with its first turn, which is what starting the session has led to,
// whatever was said to it later. A turn that is over although nobody has recorded it is failed
// or completed, as its process is.
func (s *Sessions) First(owner string, id runs.ID) (Session, Turn, error) {
	out, err := s.Get(owner, id)
	if err != nil || out.Turns == 0 {
		return out, Turn{State: TurnRunning}, err
	}
	if out.Turns == 1 {
		first := out.Last
		switch {
		case first.State != TurnRunning || out.State == Running:
		case out.State == Idle:
			first.State = TurnCompleted
		default:
			first.State = TurnFailed
		}
		return out, first, nil
	}
	all, err := s.Turns(owner, id)
	if err != nil {
		return Session{}, Turn{}, err
	}
	return out, all[0], nil
}
