// Package cli is the command line. A verb is a file.
//
// # Where to look
//
//	cli.go          the command and its verbs
//	serve.go        cadastre serve
//	conformance.go  cadastre conformance
//	blame.go        cadastre blame
//	gates.go        feature gates
//	log.go          what is logged, and how
package cli
