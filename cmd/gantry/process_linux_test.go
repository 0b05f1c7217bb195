package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// alive reports whether a process runs. One that has ended and that nobody has
// waited for does not.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// mentioning returns the processes whose command line or working directory lies
// in a folder.
func mentioning(dir string) (out []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(file), "cwd"))
		if strings.Contains(string(line), dir) || strings.HasPrefix(cwd, dir) {
			out = append(out, fmt.Sprintf("%s: %q in %s", filepath.Base(filepath.Dir(file)), line, cwd))
		}
	}
	return out
}

// signalWorkers sends SIGTERM to the workers of the state directories in a folder.
func signalWorkers(dir string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, _ := os.ReadFile(file)
		words := bytes.Split(line, []byte{0})
		if len(words) > 1 && string(words[1]) == "worker" && bytes.Contains(line, []byte(dir)) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}
