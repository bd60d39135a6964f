// Package envtest tests that controller-runtime's envtest can start Cadastre with the programs that `cadastre envtest`
// writes. The module suites/ runs test suites of other projects in this way.
package envtest
