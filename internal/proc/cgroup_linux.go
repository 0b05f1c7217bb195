package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cgroupPath returns where the cgroup of a process would be: below this process's
// own in the second version's tree. It is empty when that is not mounted.
func cgroupPath(token string) string {
	own := ""
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			own = path
		}
	}
	b, _ = os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(b)) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 && own != "" && !strings.Contains(own, "..") {
			return filepath.Join(fields[4], own, "gantry-"+token)
		}
	}
	return ""
}

// makeCgroup makes the cgroup and opens its folder, or returns nil where this user
// may not. bounded says that it holds at most the given number of processes.
func makeCgroup(path string, processes int) (dir *os.File, bounded bool) {
	if path == "" || os.Mkdir(path, 0o755) != nil {
		return nil, false
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, false
	}
	limit := filepath.Join(path, "pids.max")
	if _, err := os.Stat(limit); err == nil && processes > 0 {
		bounded = os.WriteFile(limit, []byte(strconv.Itoa(processes)), 0) == nil
	}
	return dir, bounded
}

// killCgroup kills all that is in the cgroup, however it forks.
func killCgroup(path string) {
	if path != "" {
		os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
	}
}

// removeCgroup removes the cgroup. The last process leaves it a moment after its end.
func removeCgroup(path string) {
	for try := 0; path != "" && try < 20; try++ {
		if err := os.Remove(path); err == nil || os.IsNotExist(err) {
			return
		}
		<-time.After(time.Millisecond)
	}
}
