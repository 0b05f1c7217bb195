package launch

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gantry-run/gantry/launch/inventory"
	"github.com/gantry-run/gantry/launch/quickstart"
)

// nameOf returns what a product repository is called where the caller does not
// say: the last part of its address; for a folder of this machine that of the
// address that it was cloned from, else the name that its manifest states, else
// the folder's own. It reads and executes nothing else.
func nameOf(repo Source) string {
	if !repo.Local {
		return quickstart.NameFromURL(repo.URL)
	}
	for _, name := range []string{originName(repo.URL), inventory.ManifestName(repo.URL)} {
		if quickstart.Slug(name) != "" {
			return name
		}
	}
	return filepath.Base(repo.URL)
}

// maxGitConfig bounds what is read of a .git/config, in bytes.
const maxGitConfig = 64 << 10

// originName returns the name in the address of the remote origin, or "". An
// address that is a path says no more than a folder's name and does not count.
func originName(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.Join(".git", "config"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGitConfig))
	if err != nil {
		return ""
	}
	address := originURL(string(text))
	if u, err := url.Parse(address); looksLikePath(address) || err == nil && u.Scheme == "file" {
		return ""
	}
	return quickstart.NameFromURL(address)
}

// originURL reads the url of [remote "origin"] from the text of a git config; "" if
// there is none.
func originURL(config string) string {
	inside := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == `[remote "origin"]`
			continue
		}
		if key, value, ok := strings.Cut(line, "="); inside && ok && strings.TrimSpace(key) == "url" {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
