package worktree

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Names of files that hold secrets, in lower case.
var (
	secretNames = []string{
		".env", ".envrc", ".npmrc", ".netrc", "_netrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg", ".vault-token", ".my.cnf",
	}
	secretEndings = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"}
	secretPaths   = []string{".git/config", ".aws/credentials", ".docker/config.json", ".kube/config"}
	// harmless are endings of files that show what a file of secrets looks like.
	harmless = []string{".example", ".sample", ".template", ".dist"}
)

// secret reports whether a file looks as if it held secrets, by its path from the root.
func secret(rel string) bool {
	p := strings.ToLower(filepath.ToSlash(rel))
	name := path.Base(p)
	switch {
	case slices.Contains(harmless, path.Ext(name)):
		return false
	case slices.Contains(secretNames, name), slices.Contains(secretEndings, path.Ext(name)):
		return true
	case strings.HasPrefix(name, ".env."):
		return true
	case strings.HasPrefix(name, "id_") && !strings.Contains(name, "."): // id_rsa.pub and id_map.go are none
		return true
	}
	return slices.ContainsFunc(secretPaths, func(s string) bool { return p == s || strings.HasSuffix(p, "/"+s) })
}
