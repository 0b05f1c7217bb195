// Package validate checks what comes from outside: JSON against its schema, and
// names, keys and paths against their rules.
//
// A [Schema] is compiled from the bytes in package specs at its first use
// ([Lazy]), since most processes use few of them. Checking gives [Problem]s: where,
// which keyword, and a sentence, in one fixed order and at most [MaxProblems],
// because a client may show no more than the message of a refusal. [Strict] comes before a schema:
// it refuses what two JSON parsers could read differently.
//
// Nothing here reads a file or knows a wire. What a caller sent is repeated in a
// message only in part and without control characters.
package validate
