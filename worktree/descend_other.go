//go:build !linux

package worktree

import "context"

// descend is called only where there is a watch, which this system has not.
func (s *scan) descend(context.Context, *inFolder, string) error { return nil }
