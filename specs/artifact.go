package specs

import (
	"path"
	"slices"
)

// Artifact is one kind of artifact: the file name, or a pattern of names, and the
// schema that its content obeys. An empty Schema says that it has none on
// purpose: text, patches and logs.
type Artifact struct {
	Name   string // a name, or a pattern of path.Match
	Schema string // base name in artifacts/, without .schema.json
}

// Artifacts returns every kind of artifact that Gantry itself writes: those with a
// schema in the order in which a launch writes them, then those without.
func Artifacts() []Artifact {
	return []Artifact{
		{"run_config.yaml", "run_config"},
		{"frontmatter_contract.json", "frontmatter_contract"},
		{"site_context.json", "site_context"},
		{"repo_inventory.json", "repo_inventory"},
		{"product_facts.json", "product_facts"},
		{"evidence_map.json", "evidence_map"},
		{"snippet_catalog.json", "snippet_catalog"},
		{"truth_lock_report.json", "truth_lock_report"},
		{"page_plan.json", "page_plan"},
		{"patch_bundle.json", "patch_bundle"},
		{"validation_report.json", "validation_report"},
		{"pr.json", "pr"},
		{"snapshot.json", "snapshot"},
		{"*.md", ""},
		{"*.patch", ""},
		{"*.log", ""},
	}
}

// ArtifactSchema returns the schema of the artifact with the file name (its last
// element, such as page_plan.json). A nil schema with known true says that the
// artifact has none on purpose; known false, that no artifact of Gantry has the
// name. A YAML artifact obeys its schema once it is read as JSON.
func ArtifactSchema(name string) (schema []byte, known bool) {
	kinds := Artifacts()
	i := slices.IndexFunc(kinds, func(a Artifact) bool {
		ok, err := path.Match(a.Name, name)
		return err == nil && ok
	})
	if i < 0 {
		return nil, false
	}
	if kinds[i].Schema == "" {
		return nil, true
	}
	return read("artifacts", kinds[i].Schema, ".schema.json")
}
