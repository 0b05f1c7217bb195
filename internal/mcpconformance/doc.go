// Package mcpconformance runs the conformance suite of the protocol (npm
// @modelcontextprotocol/conformance) against what serves MCP over HTTP here.
//
// Most scenarios want tools, prompts and resources that the suite defines (test_simple_text,
// test://static-text). The fixture in the tests of this package has them. It is made of the
// SDK's server, and stands behind the same front, the same handler for both eras and the same
// guard as the shipped one. The scenarios that any server can run are run against the shipped
// binary too, in cmd/gantry.
//
// The files testdata/expected-*.yml hold the scenarios that fail and are meant to, each with
// its reason. The suite fails for one that is not there, and for one there that passes.
package mcpconformance
