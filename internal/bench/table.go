package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one figure.
type row struct {
	what   string
	figure string
	beside string // what it is compared with, or ""
	ratio  float64
	target string // "" when there is none
	met    bool
}

// compared returns the row of a ratio: ours over theirs, at most so much.
func compared(what string, ours, theirs []float64, unit string, most float64) row {
	r := row{what: what, figure: quantity(median(ours), unit), beside: quantity(median(theirs), unit)}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	r.ratio = median(ratios)
	r.target, r.met = fmt.Sprintf("≤ %g×", most), r.ratio <= most
	return r
}

// untargeted returns the row of a ratio without a limit.
func (r row) untargeted() row {
	r.target, r.met = "", false
	return r
}

// targeting returns the row of a ratio with a limit on our figure instead.
func (r row) targeting(figure float64, unit string, most float64) row {
	limit := atMost("", figure, unit, most)
	r.target, r.met = limit.target, limit.met
	return r
}

// atMost returns the row of a figure with an upper limit.
func atMost(what string, figure float64, unit string, most float64) row {
	return row{what: what, figure: quantity(figure, unit), target: "≤ " + quantity(most, unit), met: figure <= most}
}

// atLeast returns the row of a figure with a lower limit.
func atLeast(what string, figure float64, unit string, least float64) row {
	return row{what: what, figure: quantity(figure, unit), target: "≥ " + quantity(least, unit), met: figure >= least}
}

// plain returns the row of a figure that nothing was promised of.
func plain(what string, figure float64, unit string) row {
	return row{what: what, figure: quantity(figure, unit)}
}

func quantity(v float64, unit string) string {
	switch {
	case v >= 100 || v == float64(int64(v)):
		return fmt.Sprintf("%.0f %s", v, unit)
	case v >= 10:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.2f %s", v, unit)
}

// median returns the middle of the values, the lower one of two.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return s[(len(s)-1)/2]
}

// table collects rows and prints them as Markdown.
type table struct {
	out  io.Writer
	rows []row
}

func newTable(out io.Writer) *table { return &table{out: out} }

func (t *table) add(rows ...row) { t.rows = append(t.rows, rows...) }

func (t *table) print() error {
	w := tabwriter.NewWriter(t.out, 0, 0, 1, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(w, "| "+strings.Join(cells, "\t| ")+"\t|") }
	line("measure", "figure", "beside", "ratio", "target", "met")
	line("---", "---", "---", "---", "---", "---")
	for _, r := range t.rows {
		ratio, met := "", ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2f×", r.ratio)
		}
		if r.target != "" {
			met = map[bool]string{true: "yes", false: "no"}[r.met]
		}
		line(r.what, r.figure, r.beside, ratio, r.target, met)
	}
	return w.Flush()
}
