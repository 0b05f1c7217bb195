// Bench measures what Gantry promises about speed, against something that the same
// machine does in the same minute, and prints the figures next to their targets.
//
// Figures of one machine say little about another, and those of a busy machine say
// nothing, so whatever can be a ratio is one: a start against the start of a bare server
// of the SDK, a call against its call, an append against a flush of the disk. The two
// sides take turns, in rounds, and what is printed is the median of the rounds. Each
// measure is a function in a file of its own; [measures] lists them.
//
//	go run ./internal/bench                    # all measures
//	go run ./internal/bench -only start,calls  # some
//	go run ./internal/bench -runs 100000       # with that many runs in the store
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// settings of the command line.
type settings struct {
	runs   int
	rounds int
	only   string
	repo   string
	big    int64 // MiB
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// execute returns the exit code. A missed target is no failure: a busy machine misses.
func execute(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.runs, "runs", 10_000, "finished runs in the store that is started on and listed")
	flags.IntVar(&s.rounds, "rounds", 7, "rounds in which the two sides of a ratio take turns")
	flags.StringVar(&s.only, "only", "", "names of the measures to take, with commas; all when empty")
	flags.StringVar(&s.repo, "repo", ".", "the checkout to build and to launch")
	flags.Int64Var(&s.big, "big", 1024, "size in MiB of the artifact that is read in slices")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := measure(ctx, s, environ, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// named is a measure and what it is called on the command line.
type named struct {
	name string
	take func(context.Context, *lab) ([]row, error)
}

func measures() []named {
	return []named{
		{"inittrace", initialisers},
		{"start", starts},
		{"memory", memory},
		{"calls", guardedCalls},
		{"records", recordsElsewhere},
		{"list", listing},
		{"journal", journalAppend},
		{"nodes", nodeExecutions},
		{"commands", commands},
		{"redact", redaction},
		{"slices", bigArtifact},
		{"tasks", tasks},
		{"taskload", taskLoad},
		{"context", contexts},
		{"readfile", readFiles},
		{"launch", launches},
		{"large", largeRepository},
	}
}

func measure(ctx context.Context, s settings, environ []string, stdout, stderr io.Writer) error {
	only := strings.FieldsFunc(s.only, func(r rune) bool { return r == ',' })
	for _, name := range only {
		if !slices.ContainsFunc(measures(), func(m named) bool { return m.name == name }) {
			return fmt.Errorf("there is no measure %q", name)
		}
	}
	l, err := newLab(ctx, s, environ, stderr)
	if err != nil {
		return err
	}
	defer l.close()
	t := newTable(stdout)
	var failed []error
	for _, m := range measures() {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		fmt.Fprintln(stderr, "measuring", m.name)
		rows, err := m.take(ctx, l)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
		}
		t.add(rows...)
	}
	return errors.Join(append(failed, t.print())...)
}
