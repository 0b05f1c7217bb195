package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

func TestEveryErrorBecomesAFault(t *testing.T) {
	own := New(RunNotFound, "there is no run")
	for name, c := range map[string]struct {
		err       error
		code      Code
		retryable bool
	}{
		"a fault":      {fmt.Errorf("call: %w", own), RunNotFound, false},
		"a deadline":   {context.DeadlineExceeded, ToolTimeout, true},
		"a cancel":     {context.Canceled, Cancelled, true},
		"a full disk":  {&os.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC}, StoreFull, true},
		"a full quota": {fmt.Errorf("write: %w", syscall.EDQUOT), StoreFull, true},
		"the rest":     {errors.New("/secret"), Internal, false},
	} {
		f := From(c.err)
		if f.Code != c.code || f.Retryable != c.retryable || !errors.Is(f, c.err) && f != own {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if From(nil) != nil {
		t.Error("nil is a fault")
	}
}
