package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/quickstart"
	"github.com/gantry-run/gantry/runs"
	"github.com/gantry-run/gantry/specs"
	"github.com/gantry-run/gantry/validate"
)

// Started is a run that was started, now or by an earlier call with the same key.
type Started struct {
	ID     runs.ID
	State  runs.State
	Config dossier.Config
}

// Start starts a launch of a run_config as its schema describes it. A violation is
// SCHEMA_VALIDATION_FAILED with every problem; a path outside the root
// POLICY_PATH_ESCAPE; an address that git may not be given URL_NOT_ALLOWED.
func (s *Service) Start(ctx context.Context, a Ask, runConfig json.RawMessage) (Started, error) {
	return s.start(ctx, a, runConfig, quick{})
}

// start starts a launch. What a quickstart has found out becomes the run's.
func (s *Service) start(ctx context.Context, a Ask, runConfig json.RawMessage, q quick) (Started, error) {
	cfg, where, err := s.Effective(runConfig)
	if err != nil {
		return Started{}, err
	}
	own, err := s.ownWorkflow(&cfg)
	if err != nil {
		return Started{}, err
	}
	input, err := json.Marshal(cfg)
	if err != nil {
		return Started{}, err
	}
	shown, err := yaml.Marshal(cfg)
	if err != nil {
		return Started{}, err
	}
	flow, err := shippedWorkflow()
	if err != nil {
		return Started{}, err
	}
	kept, err := s.keep(q.probe)
	if err != nil {
		return Started{}, err
	}
	where.Repo.Probe = kept
	sources, err := json.Marshal(where)
	if err != nil {
		return Started{}, err
	}
	files := map[string][]byte{"run_config.yaml": shown, sourcesFile: sources}
	if own != nil {
		flow = own.Flow
		if files[workflowFiles], err = json.Marshal(own.Files); err != nil {
			return Started{}, err
		}
	}
	if q.derived != nil {
		if files[derivedFile], err = json.Marshal(q.derived); err != nil {
			return Started{}, err
		}
	}
	id, created, err := s.o.Engine.Start(ctx, runs.StartRequest{
		Kind: runs.Launch, Workflow: flow, Input: input, Root: s.RootID(), Owner: a.Owner, Once: s.here(a.Once), CallID: a.CallID, Tool: a.Tool,
		Files:  files,
		Labels: map[string]string{"product_slug": cfg.ProductSlug},
		Flags:  map[string]bool{"fix": cfg.Autopilot.Fix, "open_pr": cfg.Autopilot.OpenPR},
	})
	if kept != "" && !created {
		os.RemoveAll(filepath.Dir(kept)) // no run will come for it
	}
	if err != nil {
		return Started{}, err
	}
	v, err := s.o.Store.View(id)
	if err != nil {
		return Started{}, err
	}
	return Started{ID: id, State: v.State, Config: cfg}, nil
}

// here makes a request one of this root: the same words mean another repository under
// another root.
func (s *Service) here(o *runs.Once) *runs.Once {
	if o == nil {
		return nil
	}
	return &runs.Once{Key: o.Key, Hash: hash([]byte(s.RootID() + o.Hash))}
}

// keep moves a probe to where the run that is about to start finds it.
func (s *Service) keep(probe string) (string, error) {
	if probe == "" {
		return "", nil
	}
	kept, err := s.o.Store.Scratch()
	if err != nil {
		return "", err
	}
	at := filepath.Join(kept, "repo")
	if err := os.Rename(probe, at); err != nil {
		return "", errors.Join(err, os.RemoveAll(kept))
	}
	return at, nil
}

// shippedWorkflow returns the node table that ships.
func shippedWorkflow() (runs.Workflow, error) {
	raw, ok := specs.Workflow("launch")
	if !ok {
		return runs.Workflow{}, fault.New(fault.Internal, "the launch workflow is missing")
	}
	var w runs.Workflow
	if err := json.Unmarshal(raw, &w); err != nil {
		return runs.Workflow{}, fmt.Errorf("read the launch workflow: %w", err)
	}
	return w, nil
}

// Effective returns the configuration that a run_config means, with every default
// filled in, and where its repositories are.
func (s *Service) Effective(runConfig json.RawMessage) (dossier.Config, Sources, error) {
	if err := validate.Strict(runConfig, validate.Limits{}); err != nil {
		return dossier.Config{}, Sources{}, fault.New(fault.SchemaValidationFailed, "invalid run_config: %s", err)
	}
	schema, err := s.schemas.Artifact("run_config.yaml")
	if err != nil {
		return dossier.Config{}, Sources{}, err
	}
	problems, err := schema.Check(runConfig)
	if err != nil {
		return dossier.Config{}, Sources{}, err
	}
	if len(problems) > 0 {
		return dossier.Config{}, Sources{}, validate.Fault("run_config", problems)
	}
	cfg := dossier.Defaults()
	dec := json.NewDecoder(bytes.NewReader(runConfig))
	if err := dec.Decode(&cfg); err != nil {
		return dossier.Config{}, Sources{}, fault.New(fault.SchemaValidationFailed, "run_config does not decode").Because(err)
	}
	where, err := s.locate(&cfg)
	if err != nil {
		return dossier.Config{}, Sources{}, err
	}
	where.Named = cfg.ProductName != ""
	name := nameOf(where.Repo)
	if where.Named {
		name = cfg.ProductName
	}
	fill(&cfg.ProductName, name)
	fill(&cfg.ProductSlug, quickstart.Slug(name))
	fill(&cfg.ProductSlug, "product")
	fill(&cfg.Family, cfg.ProductSlug)
	return cfg, where, s.publishable(cfg, where)
}

func fill(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// RootID names the service's root without telling where it is.
func (s *Service) RootID() string {
	sum := sha256.Sum256([]byte(s.o.Root))
	return hex.EncodeToString(sum[:8])
}
