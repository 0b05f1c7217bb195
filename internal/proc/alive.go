package proc

// Alive reports whether a process of this number runs; one that has ended and that nobody
// has taken note of does not. Of a number alone nobody can tell whether it is still the
// process that was meant: use it for those of others.
func Alive(pid int) bool {
	_, ok := startTime(pid)
	return pid > 0 && ok
}
