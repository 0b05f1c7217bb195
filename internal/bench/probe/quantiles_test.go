package probe

import (
	"testing"
	"time"
)

func TestQuantilesAreNearestRank(t *testing.T) {
	var d []time.Duration
	for i := 100; i >= 1; i-- {
		d = append(d, time.Duration(i)*time.Microsecond)
	}
	q := Summarize(d)
	if q.Min != 1 || q.P50 != 50 || q.P90 != 90 || q.P99 != 99 || q.P999 != 100 || q.Max != 100 || q.Mean != 50.5 {
		t.Errorf("%+v", q)
	}
	if Summarize(nil) != nil {
		t.Error("no samples must give no quantiles")
	}
}
