package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// member is one process of a tree.
type member struct{ pid, group int }

// tree returns the living descendants of the process, itself apart. The shim is
// their subreaper, so they are its own descendants. A shim that adopted the process
// has others: those with the token in their environment, and while the process
// lives and so keeps the number of its session from being used again, those in
// that session.
func (s *shim) tree() []member {
	var all []member
	if s.gone == nil {
		all = descendants(os.Getpid(), nil)
	} else {
		alive := s.rec.Process.alive()
		all = scan(func(pid int, st stat) bool {
			return alive && slices.Contains(s.rec.Sessions, st.session) || st.start >= s.rec.Process.Start && hasToken(pid, s.rec.Token)
		})
	}
	kept := all[:0]
	for _, m := range all {
		if m.pid != s.rec.PID || s.exited {
			kept = append(kept, m)
		}
	}
	return kept
}

// descendants appends the living descendants of a process to all.
func descendants(pid int, all []member) []member {
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return all
	}
	for _, t := range threads {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + t.Name() + "/children")
		if os.IsNotExist(err) && pid == os.Getpid() && t.Name() == strconv.Itoa(pid) {
			return descendantsByScan(pid) // a kernel without that file
		}
		for _, word := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			if st, ok := readStat(child); ok {
				all = append(all, member{child, st.group})
			}
			all = descendants(child, all)
		}
	}
	return all
}

// descendantsByScan finds the descendants of a process by everybody's parent.
func descendantsByScan(root int) []member {
	parents := map[int]int{}
	scan(func(pid int, st stat) bool { parents[pid] = st.parent; return false })
	return scan(func(pid int, _ stat) bool {
		for range len(parents) {
			if pid = parents[pid]; pid == root || pid == 0 {
				break
			}
		}
		return pid == root
	})
}

// scan returns the living processes of the machine that the caller wants.
func scan(want func(pid int, st stat) bool) []member {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var found []member
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if st, ok := readStat(pid); ok && want(pid, st) {
			found = append(found, member{pid, st.group})
		}
	}
	return found
}

// hasToken reports whether the process was started with the token.
func hasToken(pid int, token string) bool {
	if token == "" {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(b, []byte(tokenVariable+"="+token+"\x00"))
}

// findStarted looks for a process whose shim was killed before it could write who
// it is.
func (r *record) findStarted() bool {
	if r.Shim.Boot != bootID() {
		return false
	}
	for range 3 { // it may be on its way to become the program
		var first identity
		scan(func(pid int, st stat) bool {
			if pid == st.group && slices.Contains(r.Sessions, st.session) && st.start >= r.Shim.Start && hasToken(pid, r.Token) {
				if first.PID == 0 || st.start < first.Start {
					first = identity{pid, st.start, r.Shim.Boot}
				}
			}
			return false
		})
		if first.PID != 0 {
			r.Process, r.PID = first, first.PID
			return true
		}
		<-time.After(2 * time.Millisecond)
	}
	return false
}
