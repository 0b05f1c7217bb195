package runs

import "strings"

// strangerMark ends the name of a viewer who is a stranger. No name holds it.
const strangerMark = "\x00"

// Stranger returns the owner of that name as a viewer who does not see the runs of the local
// user.
func Stranger(owner string) string { return owner + strangerMark }

// Sees reports whether a viewer sees the runs of an owner: their own, and those of the local
// user, whose name is "", unless they are a [Stranger].
func Sees(viewer, owner string) bool {
	name, stranger := strings.CutSuffix(viewer, strangerMark)
	return owner == name || owner == "" && !stranger
}

// seen returns the two owners whose runs a viewer sees, which may be one.
func seen(viewer string) (own, local string) {
	if name, stranger := strings.CutSuffix(viewer, strangerMark); stranger {
		return name, name
	}
	return viewer, ""
}
