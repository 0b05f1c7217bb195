package runs

import "testing"

func TestAStrangerSeesTheirOwnRunsAndNoOthers(t *testing.T) {
	for _, c := range []struct {
		viewer, owner string
		sees          bool
	}{
		{"", "", true}, {"", "a", false},
		{"a", "a", true}, {"a", "", true}, {"a", "b", false},
		{Stranger("a"), "a", true}, {Stranger("a"), "", false}, {Stranger("a"), "b", false},
	} {
		if Sees(c.viewer, c.owner) != c.sees {
			t.Errorf("%q sees a run of %q: want %v", c.viewer, c.owner, c.sees)
		}
		own, local := seen(c.viewer)
		if (c.owner == own || c.owner == local) != c.sees {
			t.Errorf("%q lists a run of %q: want %v", c.viewer, c.owner, c.sees)
		}
	}
}
