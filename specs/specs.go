// Package specs is the contract of Gantry as data, embedded in the binary.
//
// What a client can see is written once, in a file of this folder, and
// everything else is made from it or compared with it:
//
//	tools/<toolset>/<tool>.json      a tool: name, texts, effect, limits, error codes, schemas
//	artifacts/<name>.schema.json     the form of an artifact that a launch writes
//	events/<TYPE>.schema.json        the payload of one type of event
//	errors.json                      every error code: meaning, what to do, whether to retry
//	workflows/<name>.json            the nodes of a workflow
//
// Schemas are JSON Schema, draft 2020-12, without $schema, $id and references.
// This package parses its files at their first use and judges nothing: package
// validate compiles schemas and checks values against them. The rules that the files
// obey are held by the tests here and in validate.
package specs

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

//go:embed all:tools all:artifacts all:events all:workflows all:templates all:rulesets all:site all:sites errors.json
var files embed.FS

// Files returns every embedded file, by its path in this folder.
func Files() fs.FS { return files }

// safeName is what may be put into a path of this folder.
var safeName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Workflow returns the definition workflows/<name>.json, and whether there is one.
func Workflow(name string) ([]byte, bool) { return read("workflows", name, ".json") }

// EventSchema returns the schema of an event type's payload, and whether there is one.
func EventSchema(eventType string) ([]byte, bool) { return read("events", eventType, ".schema.json") }

// EventTypes returns the event types that have a schema, sorted.
func EventTypes() []string { return names("events", ".schema.json") }

func read(dir, name, suffix string) ([]byte, bool) {
	if !safeName.MatchString(name) {
		return nil, false
	}
	raw, err := files.ReadFile(path.Join(dir, name+suffix))
	return raw, err == nil
}

// names lists the files of dir that end in suffix, without it, sorted.
func names(dir, suffix string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() {
			list = append(list, stem)
		}
	}
	slices.Sort(list)
	return list
}
