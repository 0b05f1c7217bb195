package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
)

// initialisers sums what happens before main, from the runtime's own trace. That is bound
// by the processor alone, so the least that a package was seen to take is what it takes.
func initialisers(ctx context.Context, l *lab) ([]row, error) {
	least := map[string]float64{}
	for range 5 * l.rounds {
		said, _, err := probe.Execute(ctx, l.dir, append(slices.Clone(l.home), "GODEBUG=inittrace=1"), l.gantry, "version")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(said)) {
			f := strings.Fields(line) // init <package> @<at> ms, <took> ms clock, …
			if len(f) < 5 || f[0] != "init" {
				continue
			}
			ms, err := strconv.ParseFloat(f[4], 64)
			if err != nil {
				return nil, fmt.Errorf("inittrace says %q", line)
			}
			if before, known := least[f[1]]; !known || ms < before {
				least[f[1]] = ms
			}
		}
	}
	sum := 0.0
	for _, ms := range least {
		sum += ms
	}
	return []row{atMost("package initialisers", sum, "ms", 5)}, nil
}

// starts measures from the start of a process to its first answer to tools/list.
func starts(ctx context.Context, l *lab) ([]row, error) {
	empty, err := l.folder("empty")
	if err != nil {
		return nil, err
	}
	filled, err := l.fill(ctx)
	if err != nil {
		return nil, err
	}
	const each = 5 // starts of each kind in a round
	var bare, fresh, many []float64
	for range l.rounds {
		for _, kind := range []struct {
			into  *[]float64
			start func() (*probe.Client, error)
		}{
			{&bare, func() (*probe.Client, error) { return l.serveBare(ctx, "") }},
			{&fresh, func() (*probe.Client, error) { return l.serve(ctx, empty) }},
			{&many, func() (*probe.Client, error) { return l.serve(ctx, filled) }},
		} {
			var took []float64
			for range each {
				ms, err := firstList(ctx, kind.start)
				if err != nil {
					return nil, err
				}
				took = append(took, ms)
			}
			*kind.into = append(*kind.into, median(took))
		}
	}
	full := fmt.Sprintf("start to first tools/list, %d runs", l.runs)
	return []row{
		compared("start to first tools/list, empty store", fresh, bare, "ms", 2),
		compared(full, many, bare, "ms", 2),
		atMost(full, median(many), "ms", 15),
	}, nil
}

// firstList returns how long, in milliseconds, a server takes to start and to list its
// tools.
func firstList(ctx context.Context, start func() (*probe.Client, error)) (float64, error) {
	began := time.Now()
	c, err := start()
	if err != nil {
		return 0, err
	}
	defer c.Close()
	n, err := c.ListTools(ctx)
	if err == nil && n == 0 {
		err = errors.New("no tools are listed")
	}
	return probe.Milliseconds(time.Since(began)), err
}

// memory measures a server that has listed its tools and runs, and waits.
func memory(ctx context.Context, l *lab) ([]row, error) {
	state, err := l.fill(ctx)
	if err != nil {
		return nil, err
	}
	var idle []float64
	for range l.rounds {
		c, err := l.serve(ctx, state)
		if err != nil {
			return nil, err
		}
		_, err = c.ListTools(ctx)
		if a := c.Call(ctx, "list_runs", json.RawMessage(`{}`), false); a.Outcome != probe.OK {
			err = errors.Join(err, errors.New(a.Text))
		}
		kb, _ := probe.Memory(c.PID())
		c.Close()
		if err != nil {
			return nil, err
		}
		idle = append(idle, float64(kb)/1024)
	}
	return []row{atMost(fmt.Sprintf("idle memory, resident, %d runs", l.runs), median(idle), "MB", 30)}, nil
}
