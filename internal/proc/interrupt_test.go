package proc

import (
	"testing"
)

func TestAnInterruptIsHeardByTheProcessAndEndsNothingItself(t *testing.T) {
	s, dir := supervisor(t), t.TempDir()
	polite := script(`trap 'exit 7' INT; echo $$ >` + dir + `/polite; while :; do sleep 0.05; done`)
	deaf := script(`trap '' INT; echo $$ >` + dir + `/deaf; while :; do sleep 0.05; done`)
	ensure(t, s, "polite", polite)
	ensure(t, s, "deaf", deaf)
	written(t, dir+"/polite")
	written(t, dir+"/deaf")
	for _, key := range []string{"polite", "deaf"} {
		if err := s.Interrupt(key); err != nil {
			t.Fatal(err)
		}
	}
	if st := ended(t, s, "polite"); st.State != Exited || st.Exit != 7 || st.Stopped != "" {
		t.Errorf("%+v", st)
	}
	if st, err := s.Status("deaf"); err != nil || st.State != Running {
		t.Errorf("%+v, %v", st, err)
	}
	for _, key := range []string{"polite", "none"} { // it is over, it never was
		if err := s.Interrupt(key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}
