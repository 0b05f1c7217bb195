package probe

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Resident is how much memory a process had at a time, in KiB.
type Resident struct {
	At time.Time
	KB int64
}

// Watched runs a program to its end and looks at its resident memory as often as every
// says, and at its peak, in KiB; what it starts itself does not count. The environment
// is complete. Linux only: elsewhere there are no figures.
func Watched(ctx context.Context, dir string, env []string, every time.Duration, name string, args ...string) (seen []Resident, peak int64, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(said.Bytes()))
			}
			return seen, peak, err
		case <-tick.C:
			now, most := Alone(cmd.Process.Pid)
			seen, peak = append(seen, Resident{time.Now(), now}), max(peak, most)
		}
	}
}
