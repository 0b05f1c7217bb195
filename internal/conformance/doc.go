// Package conformance says which test holds each promise: the clauses of the seed of
// the tasks toolset, of the issues, and of the design.
//
// The lists are data: a clause in our own words, the tests that fail when it breaks, and,
// where Gantry does something else on purpose, what and why. Tests of this package find
// each named test in the parsed source, so a test that is renamed or removed is missed
// here, and write docs/conformance.md from the lists.
package conformance
