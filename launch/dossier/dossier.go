// Package dossier is the vocabulary of a launch: the documents that its nodes
// hand to each other.
//
// Each document is one artifact, written once by one worker and read by those
// after it; its schema is specs/artifacts/<name>.schema.json. The types are plain
// data: no I/O and no behaviour beyond what keeps a document canonical. Every list has a
// total order, and nothing holds a time or a random id, so that two launches
// of the same inputs write the same bytes.
package dossier

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// SchemaVersion is the version that every document states.
const SchemaVersion = "1.0.0"

// The names of the artifacts, in the order in which a launch writes them.
const (
	FrontmatterContractName = "frontmatter_contract.json"
	SiteContextName         = "site_context.json"
	RepoInventoryName       = "repo_inventory.json"
	ProductFactsName        = "product_facts.json"
	EvidenceMapName         = "evidence_map.json"
	SnippetCatalogName      = "snippet_catalog.json"
	TruthLockReportName     = "truth_lock_report.json"
	PagePlanName            = "page_plan.json"
	PatchBundleName         = "patch_bundle.json"
	ValidationReportName    = "validation_report.json"
	PRName                  = "pr.json"
)

// The sections of a site, in the order in which everything lists them.
const (
	Products  = "products"
	Docs      = "docs"
	Reference = "reference"
	KB        = "kb"
	Blog      = "blog"
)

// Sections returns the five sections in order.
func Sections() []string { return []string{Products, Docs, Reference, KB, Blog} }

// Encode returns the canonical form of a document: members sorted by name, two
// spaces of indent, UTF-8 unescaped, one final newline.
func Encode(doc any) ([]byte, error) {
	raw, err := marshal(doc, "")
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any // maps encode with sorted keys, structs do not
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return marshal(tree, "  ")
}

func marshal(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
