package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// mostBeforeMain is what may pass, in milliseconds, before main begins: the program is
// started by every client, and once more for each process that it supervises. Two of it are
// the JSON Schema library, which compiles its own schemas, and 1.2 the exporters of metrics
// and traces, half of that for Protocol Buffers and gRPC that register themselves. 5 are
// wanted; on busy machines the program was seen to take 5.5 to 6.3.
const mostBeforeMain = 8

// What happens before main is bound by the processor alone, so the least that a package was
// seen to take is what it takes, however busy the machine is.
func TestPackagesTakeLittleTimeBeforeMain(t *testing.T) {
	least := map[string]float64{}
	sum := 0.0
	for range 40 {
		readInitTrace(t, least)
		sum = 0
		for _, ms := range least {
			sum += ms
		}
		if sum <= mostBeforeMain {
			return
		}
	}
	t.Errorf("%.1f ms pass before main, at most %d may; those that take the most:", sum, mostBeforeMain)
	for pkg, ms := range least {
		if ms > 0.3 {
			t.Errorf("  %s %.2f ms", pkg, ms)
		}
	}
}

// readInitTrace starts the program once and lowers what is known of each package.
func readInitTrace(t *testing.T, least map[string]float64) {
	t.Helper()
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	traced := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line) // init <package> @<at> ms, <took> ms clock, …
		if len(f) < 5 || f[0] != "init" {
			continue
		}
		ms, err := strconv.ParseFloat(f[4], 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if before, known := least[f[1]]; !known || ms < before {
			least[f[1]] = ms
		}
		traced++
	}
	if traced == 0 {
		t.Fatalf("no trace:\n%s", out)
	}
}
