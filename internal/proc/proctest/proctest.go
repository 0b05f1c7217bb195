// Package proctest finds what a test has left behind.
//
// A test that starts processes puts a variable into their environment, a mark of its
// own. Whatever they start in turn inherits it, also when it has left its session and
// its parent, so a search for the mark finds all of them.
package proctest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Marked returns the living processes that were started with a variable, NAME=value. On
// a system without /proc it finds none.
func Marked(variable string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		env, _ := os.ReadFile(path)
		if strings.Contains("\x00"+string(env), "\x00"+variable+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}
