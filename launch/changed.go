package launch

import (
	"maps"
	"slices"

	"github.com/gantry-run/gantry/artifacts"
	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/validate"
)

// changed returns the artifacts of a run whose files are not what their workers wrote,
// sorted by name; one whose file is gone has no hash. A document that somebody has edited
// and that does not fit its schema any more is SCHEMA_VALIDATION_FAILED.
func (s *Service) changed(v *runs.View) ([]runs.Artifact, error) {
	if v.Published != nil {
		return nil, nil
	}
	folder, err := artifacts.Open(s.o.Store.Dir(v.RunID))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var out []runs.Artifact
	for _, name := range slices.Sorted(maps.Keys(v.Artifacts)) {
		a := v.Artifacts[name].Artifact
		sum, err := folder.Hash(a.Path)
		switch {
		case fault.Is(err, fault.ArtifactNotFound):
			a.SHA256, a.Size = "", 0
			out = append(out, a)
		case err != nil:
			return nil, err
		case sum != a.SHA256:
			edited, err := s.edited(folder, a)
			if err != nil {
				return nil, err
			}
			out = append(out, edited)
		}
	}
	return out, nil
}

// edited describes an artifact as it is now.
func (s *Service) edited(folder *artifacts.Folder, a runs.Artifact) (runs.Artifact, error) {
	raw, err := folder.Read(a.Path)
	if err != nil {
		return a, err
	}
	a.SHA256, a.Size = hash(raw), int64(len(raw))
	if a.SchemaID == "" {
		return a, nil
	}
	schema, err := s.schemas.Artifact(a.SchemaID)
	if err != nil || schema == nil {
		return a, err
	}
	problems, err := schema.Check(raw)
	if err == nil && len(problems) > 0 {
		err = validate.Fault(a.Name, problems)
	}
	return a, err
}
