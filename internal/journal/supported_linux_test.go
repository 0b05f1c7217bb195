package journal

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestALocalFolderIsSupported(t *testing.T) {
	if err := SupportedFilesystem(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := SupportedFilesystem(t.TempDir() + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestMountTypeIsFoundByDevice(t *testing.T) {
	mountinfo := `22 1 254:0 / / rw,relatime - ext4 /dev/root rw
25 22 0:45 / /mnt/far rw,nosuid shared:9 master:2 - fuse.sshfs user@host:/ rw
26 22 0:46 / /mnt/none rw - fuse.gocryptfs /x rw
`
	for device, want := range map[string]string{"254:0": "ext4", "0:45": "fuse.sshfs", "0:46": "fuse.gocryptfs", "0:4": ""} {
		if got := mountType(strings.NewReader(mountinfo), device); got != want {
			t.Errorf("%s: %q, want %q", device, got, want)
		}
	}
}
