package jobs

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/gantry-run/gantry/internal/proc"
)

// One job of many yields to whoever else wants the processor more than one of a few.
func TestACrowdOfJobsYieldsMore(t *testing.T) {
	p := newLab(t).open(nil)
	few := p.start("forever", 0, nil)
	for range 2*runtime.NumCPU() - 1 {
		p.start("forever", 0, nil)
	}
	many := p.start("forever", 0, nil)
	for pid, want := range map[int]int{few.PID: proc.Nice, many.PID: 19} {
		eventually(t, fmt.Sprintf("%d has the niceness %d", pid, want), func() bool {
			nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
			return err == nil && 20-nice == want
		})
	}
}
