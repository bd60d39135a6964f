// Package repocheck has only tests: they check the structure, the documentation and the style of the repository.
//
// Each test walks the source and reports every violation as file:line with the reason and the remedy. The rules:
//
//   - imports_test.go: a package imports only packages of its own layer or below; oracles are imported only by tests
//   - docs_test.go: every package has a package comment; some have a complete file map; benchmarks that comments name exist
//   - differences_test.go: docs/differences.md and the tests of differences agree
//   - readme_test.go: the Go code in README.md and docs/ is that of runnable examples; guides name existing paths and targets
//   - lint_test.go: gofmt, go vet and staticcheck report nothing
//   - binary_test.go: the linker can drop unused methods, and the program stays within its size
//   - sleep_test.go: tests wait for conditions, not for durations
//   - size_test.go: files and functions stay short enough to read
//   - words_test.go: no notes to self, no paths of a developer's machine
//   - api_test.go: changes of the public API are listed in docs/api
//
// An exception to a rule is an entry in the table of that rule, with its reason.
package repocheck
