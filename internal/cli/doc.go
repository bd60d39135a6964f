// Package cli implements the cadastre command line and the kubectl-own plugin. Each verb is one file that
// returns a *cobra.Command.
//
// Verbs that work on objects connect to any Kubernetes API server through package cluster. They read and write through a
// target, which identifies one object; writes of managedFields contain the resourceVersion that was read, and are retried on
// conflict. Results are written to standard output; warnings, progress and errors to standard error. A run exits with 0 on
// success, 1 on failure and 2 on a usage error, except where a verb documents other codes.
//
// # Where to look
//
//	cli.go             root command, usage errors, exit codes
//	plugin.go          the kubectl-own plugin
//	version.go         cadastre version
//	serve.go           cadastre serve
//	envtest.go         cadastre envtest; envtestserver.go: the substitutes for kube-apiserver and etcd that it installs
//	conformance.go     cadastre conformance
//	blame.go           cadastre blame; managers.go: output per field manager; otherversions.go: entries at other API versions
//	apply.go           cadastre apply; applyoperation.go: the apply of one object; preconditions.go: --only-create,
//	                   --only-update, compare-and-swap; definitions.go: CRDs and namespaces of the same run;
//	                   forcedpaths.go: --force-path
//	takeover.go        migration from client-side apply during an apply; simulation.go: its result in a dry run;
//	                   lastapplied.go: the last-applied-configuration annotation
//	plan.go            cadastre plan; planreport.go: its output; conflict.go: conflicts of plan and apply
//	batch.go           apply and plan of many objects
//	extract.go         cadastre extract
//	own.go             cadastre own release, cadastre own transfer
//	migrate.go         cadastre migrate; objects.go: selection of objects; migration.go: parallel execution;
//	                   migrationreport.go: results
//	managedfields.go   writes of managedFields with retries; untracked.go: objects without managedFields
//	convertpatch.go    cadastre convert-patch make, cadastre convert-patch merge
//	connection.go      connection flags; target.go: object arguments
//	input.go           -f and -k; manifest.go: files and URLs; kustomize.go: kustomizations
//	confirmation.go    prompts; progress.go: progress bar
//	completion.go      shell completion of resources, names and managers; pathcompletion.go: of field paths
//	output.go          -o, --color; entryformat.go, valueformat.go: managers, paths and values as text; secrets.go: masking;
//	                   warnings.go: API warnings
//	dryrun.go          --dry-run
//	featuregates.go    --feature-gates
//	log.go             --logging-format
//
// Package reference generates man pages and completion scripts from the command tree.
package cli
