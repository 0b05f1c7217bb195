package journal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// sharedMagic names the file systems that live on another machine, by statfs type.
var sharedMagic = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB",
	0x564c:     "NCP",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x01021997: "9P",
	0x786f4256: "a VirtualBox shared folder",
}

const fuseMagic = 0x65735546

// sharedFUSE are the types of FUSE mounts, without "fuse.", that live on another
// machine. Local ones (encrypted folders, NTFS) are welcome.
var sharedFUSE = map[string]bool{
	"sshfs": true, "s3fs": true, "rclone": true, "goofys": true, "gcsfuse": true, "blobfuse": true, "blobfuse2": true,
	"glusterfs": true, "ceph": true, "ceph-fuse": true, "davfs": true, "davfs2": true, "curlftpfs": true, "smbnetfs": true,
	"gvfsd-fuse": true, "juicefs": true, "seaweedfs": true, "mount-s3": true, "vmhgfs-fuse": true, "prl_fsd": true,
}

// sharedFilesystem returns the name of the shared file system that dir is on, or "".
func sharedFilesystem(dir string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return "", &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if magic := uint32(fs.Type); magic != fuseMagic {
		return sharedMagic[magic], nil
	}
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	defer mounts.Close()
	device := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	kind := strings.TrimPrefix(mountType(mounts, device), "fuse.")
	if sharedFUSE[kind] {
		return kind, nil
	}
	return "", nil
}

// mountType finds the type of the file system with the device number (major:minor)
// in mountinfo, whose lines are "id parent device root point options… - type source …".
func mountType(mountinfo io.Reader, device string) string {
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		mount, fs, _ := strings.Cut(lines.Text(), " - ")
		if f := strings.Fields(mount); len(f) > 2 && f[2] == device {
			kind, _, _ := strings.Cut(fs, " ")
			return kind
		}
	}
	return ""
}
