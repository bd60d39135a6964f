// Package repocheck holds no code: its tests keep the repository the way its design says.
//
// Each test walks the source and reports every violation as file:line, what is wrong and what to do
// about it. The rules:
//
//   - imports_test.go: a package imports only those of its own layer or below; oracles stay in tests
//   - docs_test.go: every package says what it is for, and the engine's packages which file has what
//   - differences_test.go: docs/differences.md and the tests of differences agree
//   - readme_test.go: the Go code in README.md and docs/ is an example that runs (its commands are run by
//     the tests in docs/)
//   - lint_test.go: gofmt, go vet and staticcheck have nothing to say
//   - binary_test.go: the linker can drop unused methods, and the program stays within its size
//   - sleep_test.go: tests wait for conditions
//   - size_test.go: files and functions stay short enough to read
//   - words_test.go: no notes to self, no paths of somebody's machine
//
// A rule that must give way does so in that rule's table, with the reason beside it.
package repocheck
