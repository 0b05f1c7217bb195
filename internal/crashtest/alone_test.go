package crashtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// span is a time during which a process had git work on a run.
type span struct {
	run        string
	owner, pid int
	what       string
	begin, end int64 // nanoseconds; end is 0 when git was killed
}

// reads reports whether git only looked, as it does for the items of one fan-out, which
// are not alone.
func (s span) reads() bool { return s.what == "log" }

// spans reads what the wrapper of git has written down.
func (l *lab) spans() []span {
	path := ""
	for _, e := range l.env {
		if after, ok := strings.CutPrefix(e, "GITLOG="); ok {
			path = after
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		l.t.Fatal(err)
	}
	var out []span
	open := map[int]int{}
	for line := range strings.Lines(string(raw)) {
		var what string
		var s span
		var at int64
		if _, err := fmt.Sscan(line, &what, &s.run, &s.owner, &s.pid, &at, &s.what); err != nil {
			l.t.Fatalf("%q: %v", line, err)
		}
		i, known := open[s.pid]
		switch {
		case what == "begin":
			s.begin = at
			open[s.pid] = len(out)
			out = append(out, s)
		case known:
			out[i].end = at
			delete(open, s.pid)
		}
	}
	return out
}

// checkOneAtATime makes sure that never two processes had git work on one run at once.
// Git that was killed has ended when the next began.
func (l *lab) checkOneAtATime() {
	l.t.Helper()
	byRun := map[string][]span{}
	for _, s := range l.spans() {
		byRun[s.run] = append(byRun[s.run], s)
	}
	total := 0
	for run, list := range byRun {
		slices.SortFunc(list, func(a, b span) int { return int(a.begin - b.begin) })
		var last span
		for _, s := range list {
			total++
			if s.owner != last.owner && last.end > s.begin && !(s.reads() && last.reads()) {
				l.t.Errorf("%s: git %s of process %d was under way when git %s of process %d began, %d µs before its end",
					run, last.what, last.owner, s.what, s.owner, (last.end-s.begin)/1000)
			}
			if s.end > last.end || s.owner != last.owner {
				last = s
			}
		}
	}
	l.t.Logf("%d calls of git on %d runs", total, len(byRun))
}
