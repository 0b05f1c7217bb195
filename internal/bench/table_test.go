package main

import (
	"strings"
	"testing"
)

func TestTheMedianIsTheLowerOfTwoMiddles(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{4, 1}, 1}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 3, 2, 1}, 2}} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: %g, want %g", c.values, got, c.want)
		}
	}
}

// One side may be slow in one round because the machine was: then both are.
func TestARatioIsTakenWithinARound(t *testing.T) {
	r := compared("x", []float64{10, 100, 12}, []float64{10, 100, 10}, "ms", 1.1)
	if r.ratio != 1 || !r.met {
		t.Errorf("%+v", r)
	}
	if r = compared("x", []float64{3}, []float64{2}, "ms", 1.4); r.ratio != 1.5 || r.met {
		t.Errorf("%+v", r)
	}
}

func TestTheTableSaysWhatIsMissed(t *testing.T) {
	var out strings.Builder
	table := newTable(&out)
	table.add(atMost("slow", 7, "ms", 5), atLeast("fast", 120.4, "MB/s", 100), plain("bare", 1.234, "s"))
	if err := table.print(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range [][]string{{"measure", "figure", "target"}, {"---"}, {"slow", "7 ms", "≤ 5 ms", "no"}, {"fast", "120 MB/s", "≥ 100 MB/s", "yes"}, {"bare", "1.23 s"}} {
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%q does not say %q", lines[i], w)
			}
		}
	}
}
