// Package archtest holds the rules of this source tree, as tests.
//
// The first lines of imports_test.go are the architecture: one row a package, in
// layer order, with what it may import of this module, and who alone may import
// each library. The other files hold what a compiler does not: comments, files
// that registries name, paths that documents name, and a few things that this
// program does without. report_test.go prints what is to be looked at and
// not to be split by number.
//
// Source is parsed, never listed by the go command: its answers are outside of
// what the test cache knows, so such a test can pass while the tree is in
// violation.
//
// A rule is a function from parsed source to problems. rules_test.go runs each on
// small examples that break it, so that a rule which finds nothing is known to
// be able to.
package archtest
