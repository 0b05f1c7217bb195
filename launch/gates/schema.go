package gates

import (
	"context"
	"fmt"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// schemaGate holds each artifact of the launch against its schema.
func schemaGate() Gate {
	return Gate{
		Name: "schema", Title: "every artifact obeys its schema",
		Codes: []string{SchemaValidationFailed}, Timeout: within(30*time.Second, 60*time.Second), Run: runSchema,
	}
}

// checkedArtifacts returns the artifacts that exist before validation, and
// whether each must.
func checkedArtifacts() (names []string, required map[string]bool) {
	names = []string{
		dossier.FrontmatterContractName, dossier.SiteContextName, dossier.RepoInventoryName, dossier.ProductFactsName,
		dossier.EvidenceMapName, dossier.SnippetCatalogName, dossier.TruthLockReportName, dossier.PagePlanName,
		dossier.PatchBundleName, dossier.PRName,
	}
	required = map[string]bool{}
	for _, name := range names {
		required[name] = name != dossier.PRName // written last
	}
	return names, required
}

func runSchema(ctx context.Context, in *Input) (Outcome, error) {
	var out Outcome
	names, required := checkedArtifacts()
	add := func(name, fix, format string, args ...any) {
		out.Issues = append(out.Issues, issue("schema", SchemaValidationFailed, dossier.Blocker, name, 0, fix, format, args...))
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		raw, err := in.Artifact(name)
		if missing(err) {
			if required[name] {
				add(name, "Resume the launch from the node that writes it.", "%s is missing", name)
			}
			continue
		}
		if err != nil {
			return out, fmt.Errorf("%s cannot be read", name)
		}
		out.Checked++
		problems, err := checkArtifact(name, raw)
		if err != nil {
			return out, err
		}
		for _, p := range problems {
			add(name, "Run the node that writes the artifact again; it was changed by hand or by another version.",
				"%s at %s: %s", name, quote(p.Path), p.Message)
		}
	}
	return out, nil
}

func checkArtifact(name string, raw []byte) ([]validate.Problem, error) {
	schema, known := specs.ArtifactSchema(name)
	if !known || schema == nil {
		return nil, fmt.Errorf("%s has no schema", name)
	}
	compiled, err := validate.Compile(name, schema)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s is not valid: %w", name, err)
	}
	problems, err := compiled.Check(raw)
	if err != nil {
		return []validate.Problem{{Message: "it is not JSON that can be read"}}, nil
	}
	return problems, nil
}
