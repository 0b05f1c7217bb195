package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// start starts the process in a group of its own in the shim's session, and returns
// its pid.
func (s *shim) start(theirs theirStreams) (int, error) {
	spec := s.req.Spec
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no core files in the project
	group, bounded := makeCgroup(s.rec.Cgroup, spec.MaxProcesses)
	if group != nil {
		defer group.Close()
	}
	if spec.MaxProcesses > 0 && !bounded {
		defer limitProcesses(spec.MaxProcesses)()
	}
	pid, err := s.startIn(group, theirs)
	if err != nil && group != nil {
		pid, err = s.startIn(nil, theirs) // the kernel may refuse a cgroup that it let us make
	}
	if err == nil && spec.MaxProcesses > 0 && !bounded {
		limitChild(pid)
	}
	return pid, err
}

func (s *shim) startIn(group *os.File, theirs theirStreams) (int, error) {
	cmd, err := s.req.Spec.spec(s.req.Token).command()
	if err != nil {
		return 0, err
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Stdout, cmd.Stderr = theirs.out, theirs.errs
	if theirs.in != nil {
		cmd.Stdin = theirs.in
	}
	if group != nil {
		enterCgroup(cmd.SysProcAttr, group)
	}
	if s.req.Spec.Sandbox == "" {
		err = start(cmd)
	} else {
		err = s.inSandbox(func() error { return start(cmd) })
	}
	if err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}
