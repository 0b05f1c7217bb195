package journal

import "github.com/gantry-run/gantry/internal/fault"

// SupportedFilesystem returns a STORE_UNSUPPORTED fault when dir is on a file system
// that other machines share (NFS, SMB, sshfs and the like): flushing, locks and
// shared memory do not hold there what a journal and its index need. dir must exist.
func SupportedFilesystem(dir string) error {
	name, err := sharedFilesystem(dir)
	if err != nil {
		return err
	}
	if name == "" {
		return nil
	}
	return fault.New(fault.StoreUnsupported, "the state directory is on %s, a file system shared over a network, where an acknowledged event could be lost", name).
		WithHint("choose a directory on a local disk with --state-dir").
		WithDetails(Unsupported{Filesystem: name})
}

// Unsupported is the details of a STORE_UNSUPPORTED fault.
type Unsupported struct {
	Filesystem string `json:"filesystem"`
}
