// Package cli is the command line. A verb is a file.
//
// # Where to look
//
//	cli.go          the command and its verbs
//	plugin.go       the same verbs as a plugin of kubectl
//	serve.go        cadastre serve
//	envtest.go      cadastre envtest; envtestserver.go, what the programs do that it writes
//	conformance.go  cadastre conformance
//	blame.go        cadastre blame; managers.go, manager by manager; otherversions.go, what owners wrote at other versions
//	apply.go        cadastre apply; application.go does it to one object; sameobject.go, to which one;
//	                definitions.go, of a kind that is just defined; forcedpaths.go, which --force-path is of which use
//	takingover.go   how it takes over what client-side apply wrote; foresight.go, what that would come to; lastapplied.go,
//	                what client-side apply notes
//	plan.go         cadastre plan; planned.go shows it; conflict.go, conflicts for both
//	batch.go        one object after the other, for both
//	extract.go      cadastre extract
//	own.go          cadastre own release, cadastre own transfer
//	migrate.go      cadastre migrate; objects.go finds what it is about, migration.go does it, migrationreport.go tells
//	owners.go       changes of owners are written, for all of these; untracked.go, who owns what nobody owns
//	convertpatch.go cadastre convert-patch make, cadastre convert-patch merge
//	connection.go   which server is asked; target.go, about which objects
//	input.go        where configurations are: in files (manifest.go), or built by kustomize.go
//	question.go     questions on a terminal; progress.go, how far long work is
//	completion.go   what the shell completes: types, names, managers; pathcompletion.go, the paths of fields
//	output.go       how things are printed; who.go, how managers and fields are shown; shownvalue.go, how values are;
//	                secrets.go, which are not; warnings.go, what servers warn of
//	dryrun.go       the switch --dry-run, for those that write
//	gates.go        feature gates
//	log.go          what is logged, and how
package cli
