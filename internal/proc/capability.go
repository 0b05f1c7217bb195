package proc

// Capability is something of the system that makes supervision better, for people
// who ask what this machine can do.
type Capability struct {
	Name   string // subreaper, pidfd, cgroup, landlock
	Have   bool
	Detail string // what it means here, a sentence without a full stop
}
