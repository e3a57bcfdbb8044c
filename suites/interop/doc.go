// Package interop runs real clients, which nobody here wrote, at pinned versions: each against single faults, where what it
// sends is compared with what its source says it sends, and against the scenarios, where the strict contract judges it. What
// comes of it is the scoreboard.
//
// A language is a folder here with a language.yaml. A client is a file NAME.expected.yaml in it, next to its program; both
// are found by looking at the tree. See README.md for how to add one.
package interop
