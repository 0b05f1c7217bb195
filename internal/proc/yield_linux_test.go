package proc

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What lasts yields, with all that it starts: so do many of them to a server.
func TestAProcessThatLastsYields(t *testing.T) {
	s := supervisor(t)
	for _, want := range []int{Nice, 17} {
		key, spec := "long-"+strconv.Itoa(want), script("sleep 1000")
		if want != Nice {
			spec.Nice = want
		}
		st := ensure(t, s, key, spec)
		yields(t, st.PID, shimOf(t, s, key), want)
	}
}

// yields waits until a process, and the session of its shim, is as nice as wanted.
func yields(t *testing.T, pid, shim, want int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(20 * time.Second); ; {
		nice, err := niceness(pid)
		group, _ := os.ReadFile("/proc/" + strconv.Itoa(shim) + "/autogroup") // nothing where sessions are no groups
		if err == nil && nice == want && (len(group) == 0 || strings.HasSuffix(string(group), " nice "+strconv.Itoa(want)+"\n")) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("its niceness is %d, %v; its session's %q", nice, err, group)
		}
	}
}
