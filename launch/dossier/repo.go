package dossier

import (
	"path"
	"strings"
)

// RepoInventory is what the scout found in the product repository: repo_inventory.json.
type RepoInventory struct {
	SchemaVersion  string        `json:"schema_version"`
	RepoURL        string        `json:"repo_url"`    // without userinfo; a local path is its base name
	RepoSHA        string        `json:"repo_sha"`    // 40 hex digits
	Fingerprint    string        `json:"fingerprint"` // SHA-256 over the sorted per-file hashes
	Profile        RepoProfile   `json:"repo_profile"`
	Paths          []RepoFile    `json:"paths"`           // every file, by path
	DocEntrypoints []string      `json:"doc_entrypoints"` // README first, then docs, by path
	ExamplePaths   []string      `json:"example_paths"`
	SourceRoots    []string      `json:"source_roots"`
	TestRoots      []string      `json:"test_roots"`
	DocRoots       []string      `json:"doc_roots"`
	ExampleRoots   []string      `json:"example_roots"`
	BinaryAssets   []string      `json:"binary_assets"`
	PhantomPaths   []PhantomPath `json:"phantom_paths"` // named in a text, not in the tree
	Skipped        []SkippedPath `json:"skipped"`       // left out, with the reason: never silently
}

// RepoProfile sums a repository up.
type RepoProfile struct {
	PlatformFamily   string          `json:"platform_family"`   // run_config's target_platform value, or "other"
	PrimaryLanguages []LanguageShare `json:"primary_languages"` // most bytes first
	BuildSystems     []string        `json:"build_systems"`
	Manifests        []Manifest      `json:"package_manifests"`
	TestCommands     []string        `json:"recommended_test_commands"`
	ExampleLocator   string          `json:"example_locator"`
	DocLocator       string          `json:"doc_locator"`
	ProductType      string          `json:"product_type"` // cli, service, plugin, sdk, library, tool, other
}

// LanguageShare is one language of a repository.
type LanguageShare struct {
	Language string `json:"language"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
}

// Manifest is a package manifest and what it states. Line numbers make each
// field citable; 0 means that the field is absent.
type Manifest struct {
	Path         string       `json:"path"`
	Kind         string       `json:"kind"` // npm, python, go, maven, gradle, dotnet, cargo, composer, rubygems, swift
	Name         Stated       `json:"name"`
	Version      Stated       `json:"version"`
	License      Stated       `json:"license"`
	Description  Stated       `json:"description"`
	Runtime      Stated       `json:"runtime"`      // "go 1.25", ">=3.9", "node >=18"
	Dependencies []Dependency `json:"dependencies"` // direct ones, by name
	Commands     []Stated     `json:"commands"`     // executables that it installs
	Error        string       `json:"error"`        // why it could not be read; empty if it could
}

// ShortName is the manifest's name as people say it: without an npm scope, a Maven
// group, the host and folders of a Go module, and its major version.
func (m Manifest) ShortName() string {
	name := m.Name.Value
	if m.Kind == "go" {
		if at := strings.LastIndex(name, "/v"); at > 0 && isDigits(name[at+2:]) {
			name = name[:at]
		}
		if at := strings.LastIndex(name, ".v"); strings.HasPrefix(name, "gopkg.in/") && at > 0 && isDigits(name[at+2:]) {
			name = name[:at]
		}
	}
	if name == "" {
		return ""
	}
	name = path.Base(name)
	if _, artifact, ok := strings.Cut(name, ":"); ok {
		name = artifact
	}
	return name
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Stated is a value and the line that states it.
type Stated struct {
	Value string `json:"value"`
	Line  int    `json:"line"`
}

// Dependency is one direct dependency.
type Dependency struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Line    int    `json:"line"`
}

// RepoFile is one file. Roles: source, test, doc, example, manifest, asset, config, other.
type RepoFile struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Language string `json:"language"` // linguist's name, "" when unknown
	Binary   bool   `json:"binary"`
	Role     string `json:"role"`
}

// PhantomPath is a path that a text names and the tree lacks.
type PhantomPath struct {
	ClaimedPath string `json:"claimed_path"`
	SourceFile  string `json:"source_file"`
	Line        int    `json:"line"`
}

// SkippedPath is something the inventory left out.
type SkippedPath struct {
	Path   string `json:"path"`
	Reason string `json:"reason"` // symlink, submodule, special_file, unreadable, name_not_utf8
}
