package jobs

import "testing"

// BenchmarkListingFiftyJobs is what status costs while fifty tasks run.
func BenchmarkListingFiftyJobs(b *testing.B) {
	p := newLab(b).open(nil)
	for range 50 {
		p.start("forever", 0, nil)
	}
	for b.Loop() {
		if jobs, err := p.Jobs(b.Context(), ""); err != nil || len(jobs) != 50 {
			b.Fatal(len(jobs), err)
		}
	}
}
