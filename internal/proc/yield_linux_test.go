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
	st := ensure(t, s, "long", script("sleep 1000"))
	shim := strconv.Itoa(shimOf(t, s, "long"))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(20 * time.Second); ; {
		nice, err := niceness(st.PID)
		group, _ := os.ReadFile("/proc/" + shim + "/autogroup") // nothing where sessions are no groups
		if err == nil && nice == yieldNice && (len(group) == 0 || strings.HasSuffix(string(group), " nice "+strconv.Itoa(yieldNice)+"\n")) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("its niceness is %d, %v; its session's %q", nice, err, group)
		}
	}
}
