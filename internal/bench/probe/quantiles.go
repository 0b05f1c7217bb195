package probe

import (
	"math"
	"slices"
	"time"
)

// Quantiles of durations, in microseconds. They are exact: every sample is kept and sorted.
type Quantiles struct {
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
}

// Summarize returns the quantiles of durations by nearest rank, nil of none.
func Summarize(took []time.Duration) *Quantiles {
	if len(took) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(took))
	var sum time.Duration
	for _, v := range s {
		sum += v
	}
	at := func(q float64) float64 { // the smallest sample with at least q of all at or below it
		return us(s[max(0, int(math.Ceil(q*float64(len(s))))-1)])
	}
	return &Quantiles{
		Min: us(s[0]), P50: at(.50), P90: at(.90), P99: at(.99), P999: at(.999),
		Max: us(s[len(s)-1]), Mean: Round(us(sum)/float64(len(s)), 1),
	}
}

func us(d time.Duration) float64 { return Round(float64(d.Nanoseconds())/1e3, 1) }

// Milliseconds returns d with three decimals.
func Milliseconds(d time.Duration) float64 { return Round(float64(d.Nanoseconds())/1e6, 3) }

// Round rounds to so many decimal places.
func Round(v float64, places int) float64 {
	p := math.Pow10(places)
	return math.Round(v*p) / p
}
