package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gantry-run/gantry/internal/bench/probe"
	"github.com/gantry-run/gantry/runs"
)

// largeRepository measures the launch of a repository of 10,000 files and 300 MB: the
// time of each node, and the memory of the process meanwhile.
func largeRepository(ctx context.Context, l *lab) ([]row, error) {
	repo, err := l.folder("large")
	if err != nil {
		return nil, err
	}
	if err := writeLarge(repo); err != nil {
		return nil, err
	}
	if err := l.commit(ctx, repo, "a large repository"); err != nil {
		return nil, err
	}
	state := filepath.Join(l.dir, "large-launch")
	seen, peak, err := probe.Watched(ctx, l.dir, l.home, 5*time.Millisecond, l.gantry, "launch", repo, "--state-dir", state)
	if err != nil {
		return nil, err
	}
	store, err := runs.OpenStore(state, runs.StoreOptions{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	page, err := store.List(ctx, runs.Filter{})
	if err != nil || len(page.Runs) != 1 {
		return nil, errors.Join(err, fmt.Errorf("the launch left %d runs", len(page.Runs)))
	}
	view, err := store.View(page.Runs[0].ID)
	if err != nil {
		return nil, err
	}
	rows := []row{atMost("launch of 10,000 files, 300 MB: peak memory", float64(peak)/1024, "MB", 300)}
	for _, n := range nodeTimes(view) {
		most := int64(0)
		for _, r := range seen {
			if !r.At.Before(n.began) && !r.At.After(n.ended) {
				most = max(most, r.KB)
			}
		}
		what := fmt.Sprintf("%s, which took %s", n.name, quantity(n.ended.Sub(n.began).Seconds(), "s"))
		rows = append(rows, plain(what, float64(most)/1024, "MB"))
	}
	return rows, nil
}

// nodeTime is when a node worked, all its items together.
type nodeTime struct {
	name         string
	began, ended time.Time
}

// nodeTimes returns the nodes in the order in which they began.
func nodeTimes(v *runs.View) []nodeTime {
	var nodes []nodeTime
	for _, w := range v.WorkItems {
		if w.StartedAt == nil || w.FinishedAt == nil {
			continue
		}
		i := slices.IndexFunc(nodes, func(n nodeTime) bool { return n.name == w.Node })
		if i < 0 {
			nodes = append(nodes, nodeTime{w.Node, *w.StartedAt, *w.FinishedAt})
			continue
		}
		n := &nodes[i]
		if w.StartedAt.Before(n.began) {
			n.began = *w.StartedAt
		}
		if w.FinishedAt.After(n.ended) {
			n.ended = *w.FinishedAt
		}
	}
	slices.SortStableFunc(nodes, func(a, b nodeTime) int { return a.began.Compare(b.began) })
	return nodes
}

// writeLarge writes a Go module with sources, documents, examples, scripts and data,
// the same ones each time.
func writeLarge(dir string) error {
	g := largeFiles{dir: dir, random: rand.New(rand.NewPCG(1, 1))}
	g.write("README.md", "# Large\n\nLarge is a library that turns many cranks at once.\n\n## Features\n\n- Large turns cranks of any size.\n\n"+
		"## Installation\n\n```sh\ngo get example.org/large\n```\n")
	g.write("go.mod", "module example.org/large\n\ngo 1.24\n")
	g.write("LICENSE", "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n")
	for i := range 6000 {
		g.write(fmt.Sprintf("pkg%03d/f%d.go", i%200, i), g.source(i))
	}
	for i := range 2000 {
		g.write(fmt.Sprintf("docs/d%02d/p%d.md", i%50, i), fmt.Sprintf("# Page %d\n\n", i)+strings.Join(g.sentences(60), "\n\n")+"\n\n```json\n{\"a\": 1}\n```\n")
	}
	for i := range 1000 {
		g.write(fmt.Sprintf("examples/e%d/main.go", i), "package main\n\nfunc main() {\n\t// "+g.sentence()+"\n}\n")
	}
	for i := range 900 {
		var b strings.Builder
		for j := range 100 {
			fmt.Fprintf(&b, "/** turns %d */\nexport function f%dx%d(a) { return a + %d; }\n", j, i, j, j)
		}
		g.write(fmt.Sprintf("web/m%d.js", i), b.String())
	}
	for i := range 90 {
		g.write(fmt.Sprintf("data/b%d.bin", i), g.bytes(5<<18))
	}
	for i := range 7 {
		g.write(fmt.Sprintf("docs/line%d.md", i), strings.Repeat("x", 8<<20))
	}
	return g.err
}

// largeFiles writes the files of a large repository; the first error stays.
type largeFiles struct {
	dir    string
	random *rand.Rand
	err    error
}

func (g *largeFiles) write(name, content string) {
	at := filepath.Join(g.dir, filepath.FromSlash(name))
	if g.err == nil {
		g.err = os.MkdirAll(filepath.Dir(at), 0o700)
	}
	if g.err == nil {
		g.err = os.WriteFile(at, []byte(content), 0o600)
	}
}

var largeWords = strings.Fields("the crank turns a wheel and reads its file from disk while parsing every table of values in order")

func (g *largeFiles) sentence() string {
	words := []string{"Large"}
	for range 12 {
		words = append(words, largeWords[g.random.IntN(len(largeWords))])
	}
	return strings.Join(words, " ") + "."
}

func (g *largeFiles) sentences(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.sentence()
	}
	return list
}

// source is a Go file with forty exported functions.
func (g *largeFiles) source(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package pkg%03d turns cranks.\npackage pkg%03d\n\n", i%200, i%200)
	for j := range 40 {
		fmt.Fprintf(&b, "// Turn%dx%d turns crank %d of wheel %d.\nfunc Turn%dx%d(a, b int) (int, error) {\n", i, j, j, i, i, j)
		for range 6 {
			b.WriteString("\t// " + g.sentence() + "\n")
		}
		b.WriteString("\treturn a + b, nil\n}\n\n")
	}
	return b.String()
}

// bytes are so many that are no text.
func (g *largeFiles) bytes(n int) string {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(g.random.Uint32())
	}
	return string(data)
}
