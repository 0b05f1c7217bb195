package patch

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
)

// File is a file as a launch wants it.
type File struct {
	Path    string // relative to the site's root
	Content []byte
}

// BundleInput is what a bundle is made from.
type BundleInput struct {
	Root    *os.Root        // the site as it is
	BaseRef string          // the site's pinned commit
	Files   []File          // whole files, no two with one path
	Extra   []dossier.Patch // further changes, applied after the files in their order
}

// Bundle returns the changes that turn the site into what the input asks for:
// a create_file for each file that is absent, empty or already as wanted, and for a
// file with other content an update_file_range of the lines that differ, which
// expects exactly the file that was seen. Files come in the order of their paths.
//
// It fails with LINKER_NO_DRAFTS when there is nothing to bundle and with
// LINKER_PATCH_CONFLICT when two files share a path.
func Bundle(in BundleInput) (dossier.PatchBundle, error) {
	bundle := dossier.PatchBundle{SchemaVersion: dossier.SchemaVersion, BaseRef: in.BaseRef, Patches: []dossier.Patch{}}
	if len(in.Files)+len(in.Extra) == 0 {
		return bundle, fault.New(fault.LinkerNoDrafts, "there are no drafts to merge")
	}
	files := slices.SortedStableFunc(slices.Values(in.Files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i, file := range files {
		if i > 0 && files[i-1].Path == file.Path {
			return bundle, fault.New(fault.PatchConflict, "two drafts have the path %s", file.Path)
		}
		change, err := change(in.Root, file)
		if err != nil {
			return bundle, err
		}
		bundle.Patches = append(bundle.Patches, change)
	}
	for _, extra := range in.Extra {
		bundle.Patches = append(bundle.Patches, seal(extra))
	}
	return bundle, nil
}

// change returns the patch that makes a file what it should be. What cannot be
// read because of its path or kind becomes a create_file, which Apply refuses.
func change(root *os.Root, file File) (dossier.Patch, error) {
	create := Create(file.Path, string(file.Content))
	if !clean(file.Path) || refuseLinks(root, file.Path) != nil {
		return create, nil
	}
	before, err := readRegular(root, file.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular):
		return create, nil
	case err != nil:
		return create, fault.New(fault.Internal, "cannot read %s in the site", file.Path).Because(err)
	case len(before) == 0, string(before) == string(file.Content):
		return create, nil
	}
	return differing(file.Path, string(before), string(file.Content)), nil
}

// differing returns the patch for the lines between the common head and the
// common tail. A line that stays goes along where there would be nothing to
// bring or nothing to replace: a pure removal could not be told from one already
// made, and a range has at least one line.
func differing(path, before, after string) dossier.Patch {
	was, is := splitLines(before), splitLines(after)
	head := commonHead(was, is)
	tail := commonTail(was[head:], is[head:])
	for head+tail > 0 && (head+tail == len(is) || head+tail == len(was)) {
		if head > 0 {
			head--
		} else {
			tail--
		}
	}
	return Replace(path, head+1, len(was)-tail, strings.Join(is[head:len(is)-tail], ""), Hash([]byte(before)))
}

func commonHead(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonTail(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
