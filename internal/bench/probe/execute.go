package probe

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Execute runs a program to its end and returns what it said, on both streams, and how
// long it took. The environment is complete.
func Execute(ctx context.Context, dir string, env []string, name string, args ...string) (said []byte, took time.Duration, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	began := time.Now()
	said, err = cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(said))
	}
	return said, time.Since(began), err
}
