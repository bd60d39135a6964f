// Package cli is the command line. A verb is a file.
//
// # Where to look
//
//	cli.go          the command and its verbs
//	serve.go        cadastre serve
//	conformance.go  cadastre conformance
//	blame.go        cadastre blame
//	migrate.go      cadastre migrate; objects.go finds what it is about, migration.go does it and reports
//	gates.go        feature gates
//	log.go          what is logged, and how
package cli
