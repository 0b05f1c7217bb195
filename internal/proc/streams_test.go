package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gantry-run/gantry/internal/fault"
)

// all reads a stream from its start to its end.
func all(t testing.TB, read func(key string, offset int64, max int) (Output, error), key string) string {
	t.Helper()
	var b strings.Builder
	for at := int64(0); ; {
		out, err := read(key, at, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if out.Dropped > 0 {
			t.Fatalf("%d bytes are missing at %d", out.Dropped, at)
		}
		if len(out.Data) == 0 {
			return b.String()
		}
		b.Write(out.Data)
		at = out.Next
	}
}

func TestAProcessReadsTheFileItIsGiven(t *testing.T) {
	t.Parallel()
	s := supervisor(t)
	input := filepath.Join(t.TempDir(), "prompt")
	text := strings.Repeat("a long prompt\n", 100_000) // more than a pipe holds
	if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := script("cat")
	spec.Stdin, spec.Output.Bytes = input, -1
	ensure(t, s, "reads", spec)
	ended(t, s, "reads")
	if got := all(t, s.ReadFrom, "reads"); got != text {
		t.Errorf("%d bytes of %d came through", len(got), len(text))
	}
	spec.Stdin = filepath.Join(t.TempDir(), "nowhere")
	if _, err := s.Ensure(t.Context(), "nothing", spec); !fault.Is(err, fault.ProcessFailed) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestErrorsAreKeptApartWhenAsked(t *testing.T) {
	t.Parallel()
	s := supervisor(t)
	spec := script("for i in 1 2 3; do echo out $i; echo err $i >&2; done")
	ensure(t, s, "together", spec)
	ended(t, s, "together")
	if got := all(t, s.ReadFrom, "together"); got != "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n" {
		t.Errorf("together: %q", got)
	}
	if got := all(t, s.ReadErrors, "together"); got != "" {
		t.Errorf("of one that keeps them together: %q", got)
	}
	spec.ErrorsApart = true
	ensure(t, s, "apart", spec)
	ended(t, s, "apart")
	if out, errs := all(t, s.ReadFrom, "apart"), all(t, s.ReadErrors, "apart"); out != "out 1\nout 2\nout 3\n" || errs != "err 1\nerr 2\nerr 3\n" {
		t.Errorf("apart: %q and %q", out, errs)
	}
}

func TestErrorsAreReadOnWhenTheShimWasKilled(t *testing.T) {
	t.Parallel()
	s := supervisor(t)
	gate := filepath.Join(t.TempDir(), "gate")
	spec := script("echo out; echo err >&2; echo $$ >" + gate + ".1; while [ ! -e " + gate + " ]; do sleep 0.01; done; echo more; echo worse >&2")
	spec.ErrorsApart, spec.Keep = true, true
	ensure(t, s, "orphan", spec)
	written(t, gate+".1")
	until(t, "nothing was read", func() bool {
		return all(t, s.ReadErrors, "orphan") == "err\n" && all(t, s.ReadFrom, "orphan") == "out\n"
	})
	killShim(t, s, "orphan")
	ensure(t, s, "orphan", spec)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended(t, s, "orphan")
	if out, errs := all(t, s.ReadFrom, "orphan"), all(t, s.ReadErrors, "orphan"); out != "out\nmore\n" || errs != "err\nworse\n" {
		t.Errorf("%q and %q", out, errs)
	}
}

func TestAllOutputIsKeptWhenAsked(t *testing.T) {
	t.Parallel()
	s := supervisor(t)
	spec := script("yes 0123456789abcdef | head -c 40000000")
	spec.Output.Bytes = -1
	ensure(t, s, "all", spec)
	ended(t, s, "all")
	if got := all(t, s.ReadFrom, "all"); len(got) != 40_000_000 {
		t.Errorf("%d bytes", len(got))
	}
}
