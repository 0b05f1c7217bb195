package validate

import (
	"sync"

	"github.com/gantry-run/gantry/internal/fault"
	"github.com/gantry-run/gantry/specs"
)

// Lazy compiles the schemas of package specs at their first use and keeps them. The
// zero value is ready, and may be used by several goroutines at once.
type Lazy struct {
	compiled sync.Map // name → func() (*Schema, error)
}

// Input returns the schema of a tool's arguments.
func (l *Lazy) Input(t specs.Tool) (*Schema, error) {
	return l.get("input of "+t.Toolset+"/"+t.Name, t.Input)
}

// Output returns the schema of a tool's result.
func (l *Lazy) Output(t specs.Tool) (*Schema, error) {
	return l.get("output of "+t.Toolset+"/"+t.Name, t.Output)
}

// Artifact returns the schema of the artifact with the file name, such as
// page_plan.json; nil for one that has no schema on purpose. A name that no
// artifact of Gantry has is ARTIFACT_NOT_FOUND.
func (l *Lazy) Artifact(name string) (*Schema, error) {
	raw, known := specs.ArtifactSchema(name)
	switch {
	case !known:
		return nil, fault.New(fault.ArtifactNotFound, "there is no artifact %q", clean(name))
	case raw == nil:
		return nil, nil
	}
	return l.get("artifact "+name, raw)
}

// Event returns the schema of an event type's payload; nil for a type without one.
func (l *Lazy) Event(eventType string) (*Schema, error) {
	raw, known := specs.EventSchema(eventType)
	if !known {
		return nil, nil
	}
	return l.get("event "+eventType, raw)
}

func (l *Lazy) get(name string, raw []byte) (*Schema, error) {
	once := sync.OnceValues(func() (*Schema, error) { return Compile(name, raw) })
	kept, _ := l.compiled.LoadOrStore(name, once)
	return kept.(func() (*Schema, error))()
}
