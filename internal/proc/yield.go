package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// yieldAfter is how long a process has to last before it yields. A short one is over
	// sooner than anybody is in its way.
	yieldAfter = 250 * time.Millisecond
	// yieldNice is the niceness of what lasts, that of nice(1): fifty builds leave a
	// server the time to say how they are, and lose nothing where nobody else has work.
	yieldNice = 10
)

// yield makes the process and what it starts give way to others. It returns false when
// the system would have it be tried again.
func (s *shim) yield() bool {
	if nice, err := niceness(s.rec.PID); err == nil && nice < yieldNice {
		unix.Setpriority(unix.PRIO_PGRP, s.rec.PID, yieldNice)
	}
	return yieldSession()
}
