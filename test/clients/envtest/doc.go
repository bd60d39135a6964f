// Package envtest has controller-runtime's envtest start our server, by the programs that `cadastre envtest` writes. The
// module suites/ has others' test suites run that way.
package envtest
