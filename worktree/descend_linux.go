package worktree

import (
	"context"
	"encoding/binary"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// descend makes a folder and all below it watched. Of what is in them it looks at nothing
// but the names of folders, with as few calls of the system as that takes: a project has
// thousands. No link is followed.
func (s *scan) descend(ctx context.Context, in *inFolder, rel string) error {
	dir, name := path.Split(rel)
	parent, err := s.root.Open(path.Clean(dir + "."))
	if err != nil {
		s.partial = true
		return nil
	}
	defer parent.Close()
	d := descent{scan: s, buf: make([]byte, 64<<10)}
	return d.into(ctx, in, int(parent.Fd()), name, rel)
}

// descent is a walk with a buffer for names.
type descent struct {
	*scan
	buf []byte
}

func (d *descent) into(ctx context.Context, in *inFolder, parent int, name, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.folders[rel] = true
	if !d.watch.add(filepath.Join(d.t.root, rel)) {
		d.partial = true
	}
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		d.partial = true
		return nil // it is gone by now, or closed to the server
	}
	defer unix.Close(fd)
	folders, ruled, err := d.list(fd)
	if err != nil {
		d.partial = true
		return nil
	}
	if ruled {
		in = in.ruled()
	}
	for _, f := range folders {
		if f == gitDir {
			continue
		}
		if below := in.below(f); !below.ignored {
			if err := d.into(ctx, below, fd, f, rel+"/"+f); err != nil {
				return err
			}
		}
	}
	return nil
}

// What getdents64 writes of an entry: eight bytes each of number and offset, two of the
// length of the whole, one of the type, and the name, which ends in NUL.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// list returns the folders in an open folder, and whether there is a file of rules.
func (d *descent) list(fd int) (folders []string, ruled bool, err error) {
	for {
		n, err := unix.ReadDirent(fd, d.buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return folders, ruled, err
		}
		for rest := d.buf[:n]; len(rest) > direntName; {
			length := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			if length <= direntName || length > len(rest) {
				break
			}
			kind, name := rest[direntType], rest[direntName:length]
			rest = rest[length:]
			if kind != unix.DT_DIR && kind != unix.DT_UNKNOWN && string(name[:min(len(name), len(ignoreFile)+1)]) != ignoreFile+"\x00" {
				continue
			}
			text, _, _ := strings.Cut(string(name), "\x00")
			switch {
			case text == "." || text == "..":
			case text == ignoreFile:
				ruled = true
			case kind == unix.DT_DIR || isFolder(fd, text):
				folders = append(folders, text)
			}
		}
	}
}

// isFolder asks of an entry whose type the file system does not tell.
func isFolder(fd int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}
