package proc

import "os"

// StartDetached starts a program that outlives this one, in a session of its own,
// and returns its pid. Only Name, Args, Dir and Env of the spec count. Its input is
// empty; its output is appended to the file logPath, or thrown away when that is
// empty. If it ends while this process lives, it is reaped.
func StartDetached(s Spec, logPath string) (pid int, err error) {
	cmd, err := s.command()
	if err != nil {
		return 0, err
	}
	cmd.SysProcAttr.Setsid = true
	if logPath != "" {
		log, err := os.OpenFile(logPath, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return 0, err
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
	}
	if err := start(cmd); err != nil {
		return 0, err
	}
	go cmd.Process.Wait()
	return cmd.Process.Pid, nil
}
