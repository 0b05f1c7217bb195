package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Nice is the niceness of a process that lasts, that of nice(1): some builds leave a
// server the time to say how they are, and lose nothing where nobody else has work.
const Nice = 10

// yieldAfter is how long a process has to last before it yields. A short one is over
// sooner than anybody is in its way.
const yieldAfter = 250 * time.Millisecond

// yield makes the process and what it starts give way to others. It returns false when
// the system would have it be tried again.
func (s *shim) yield() bool {
	if nice, err := niceness(s.rec.PID); err == nil && nice < s.rec.Nice {
		unix.Setpriority(unix.PRIO_PGRP, s.rec.PID, s.rec.Nice)
	}
	return yieldSession(s.rec.Nice)
}
