package probe

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns the resident and peak resident memory of pid and its
// descendants in KiB (Linux only; zero where /proc is absent). Descendants
// count because npx and shell wrappers start the real server as a child.
func Memory(pid int) (now, peak int64) {
	if pid <= 0 {
		return 0, 0
	}
	for _, p := range append([]int{pid}, descendants(pid)...) {
		n, k := procRSS(p)
		now += n
		peak += k
	}
	return now, peak
}

// Alone returns the resident and peak resident memory of pid without its descendants, in
// KiB.
func Alone(pid int) (now, peak int64) { return procRSS(pid) }

// Private returns the memory of pid that no other process shares, in KiB.
func Private(pid int) (kb int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "Private_") {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			kb += n
		}
	}
	return kb
}

// Parent returns the parent of pid, 0 when it is not known.
func Parent(pid int) int {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name may hold anything
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

func procRSS(pid int) (now, peak int64) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "VmRSS:":
			now, _ = strconv.ParseInt(f[1], 10, 64)
		case "VmHWM:":
			peak, _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	return now, peak
}

func descendants(pid int) []int {
	kids := map[int][]int{}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		p, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + d.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (comm) state ppid ...; comm may hold spaces and parentheses
		i := bytes.LastIndexByte(b, ')')
		if i < 0 {
			continue
		}
		f := strings.Fields(string(b[i+1:]))
		if len(f) < 2 {
			continue
		}
		pp, _ := strconv.Atoi(f[1])
		kids[pp] = append(kids[pp], p)
	}
	var out []int
	queue := []int{pid}
	for len(queue) > 0 {
		k := kids[queue[0]]
		queue = append(queue[1:], k...)
		out = append(out, k...)
	}
	return out
}
