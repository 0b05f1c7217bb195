// Package runstest is the conformance suite that every engine passes.
//
// An engine is judged from outside. The suite starts the test binary again as host
// processes, each with an engine of the implementation on one shared state directory,
// speaks to them over pipes, and kills them with SIGKILL whenever it likes. The workers
// do what the run's input says ([Script]) and write down each execution in a file that
// all hosts append to. What is judged is the journals, that file, and what hosts
// answered before they died.
//
// A package that implements an engine needs two functions:
//
//	func TestMain(m *testing.M) { os.Exit(runstest.Main(m, open)) }
//	func TestConformance(t *testing.T) { runstest.Run(t, runstest.Options{}) }
package runstest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/gantry-run/gantry/runs"
)

// Config is what a host gives the engine under test.
type Config struct {
	Store   *runs.Store
	Workers map[string]runs.Activity
	Adopt   time.Duration // how soon a run that lost its driver must be taken
	Backoff func(failures int) time.Duration
	Log     *slog.Logger
}

// Open makes the engine under test. Closing the engine must not close the store.
type Open func(Config) (runs.Engine, error)

// Options say how hard to test. The zero value suits go test.
type Options struct {
	Kills  int           // SIGKILLs in the storm; default 30
	Hosts  int           // processes in the storm; default 3
	Cancel time.Duration // how long a cancel may take while a node executes; default 1 s
}

// Main runs the tests of a package, or serves as a host when the suite has started
// this process as one. It returns the exit code.
func Main(m *testing.M, open Open) int {
	if code, ok := serveIfHost(open); ok {
		return code
	}
	return m.Run()
}

// Run judges the engine that was given to [Main].
func Run(t *testing.T, o Options) {
	if o.Kills == 0 {
		o.Kills = 30
	}
	if o.Hosts == 0 {
		o.Hosts = 3
	}
	if o.Cancel == 0 {
		o.Cancel = time.Second
	}
	for _, c := range []struct {
		promise string
		check   func(*testing.T, Options)
	}{
		{"a run goes through its workflow to the end", testEnd},
		{"a paused run goes on with a command", testPause},
		{"a command with the same key is one command", testCommandOnce},
		{"a start with the same id or key is one run", testStartOnce},
		{"a cancel interrupts what is executing", testCancel},
		{"a retryable failure is tried again later", testRetry},
		{"a failure for good ends the run and can be resumed", testFailure},
		{"a timeout is a retryable failure", testTimeout},
		{"a close leaves runs for others", testClose},
		{"runs go on after the death of all", testDeathOfAll},
		{"a damaged journal is named and left alone", testDamage},
		{"a torn tail is repaired and recorded", testTornTail},
		{"nothing is lost or repeated in a storm of kills", testStorm},
	} {
		t.Run(c.promise, func(t *testing.T) {
			t.Parallel()
			c.check(t, o)
		})
	}
}
