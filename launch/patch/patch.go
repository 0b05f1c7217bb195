// Package patch changes a documentation site, and nothing else.
//
// What a launch wants changed is a [dossier.PatchBundle]: plain data, made by
// [Bundle] from drafts and the present state of the site, or by the
// constructors below. [Apply] is the only code that writes to a site. It works
// in two phases: first every patch is checked and carried out in memory, in
// order; then, if and only if nothing was refused, the files that differ are
// written, each to a temporary file beside it that is renamed over it.
//
// Three rules hold whatever the bundle says:
//
//   - A path must be allowed (see [Allowed]), must not lead through a symbolic
//     link and cannot leave the root, for every access goes through [os.Root].
//   - One refusal means that nothing is written.
//   - Applying a bundle twice is the same as applying it once: a patch whose
//     outcome is already there counts as applied before.
//
// Paths are relative to the site's root and use forward slashes. Hashes are
// SHA-256 in lower-case hex. Lines are counted from 1.
package patch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// Create returns a patch that makes a file.
func Create(path, content string) dossier.Patch {
	return seal(dossier.Patch{Type: dossier.CreateFile, Path: path, NewContent: content})
}

// Replace returns a patch that puts content in place of the lines from start to
// end inclusive. An end of start-1 puts it in front of line start. beforeHash is
// the hash of the whole file that the lines were counted in, or empty.
func Replace(path string, start, end int, content, beforeHash string) dossier.Patch {
	return seal(dossier.Patch{
		Type: dossier.UpdateFileRange, Path: path, StartLine: start, EndLine: end,
		NewContent: content, ExpectedBeforeHash: beforeHash,
	})
}

// After returns a patch that puts content after the one line that equals anchor.
func After(path, anchor, content string) dossier.Patch {
	return seal(dossier.Patch{Type: dossier.UpdateByAnchor, Path: path, Anchor: anchor, NewContent: content})
}

// SetFrontmatter returns a patch that sets front matter keys; each value is a
// YAML scalar or a flow list as it would stand after "key: ".
func SetFrontmatter(path string, updates map[string]string) dossier.Patch {
	return seal(dossier.Patch{Type: dossier.UpdateFrontmatterKeys, Path: path, FrontmatterUpdates: updates})
}

// Delete returns a patch that removes a file. beforeHash may be empty.
func Delete(path, beforeHash string) dossier.Patch {
	return seal(dossier.Patch{Type: dossier.DeleteFile, Path: path, ExpectedBeforeHash: beforeHash})
}

// seal fills in what follows from the rest: the content hash and the id, which
// is "p" and 12 hex digits of the SHA-256 of the patch without its id.
func seal(p dossier.Patch) dossier.Patch {
	brought := []byte(p.NewContent)
	if p.Type == dossier.UpdateFrontmatterKeys {
		brought = encode(p.FrontmatterUpdates)
	}
	p.ContentHash, p.ID = Hash(brought), ""
	p.ID = "p" + Hash(encode(p))[:12]
	return p
}

// encode returns JSON with sorted keys; strings, integers and maps of strings cannot fail.
func encode(v any) []byte {
	raw, _ := json.Marshal(v)
	return raw
}

// Hash returns the SHA-256 of content in hex.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// splitLines cuts text after each line feed; the last line may lack its own.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
