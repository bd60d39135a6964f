// Package clients has only this page: the folders below it try the server with real clients, and ask it and the real
// kube-apiserver the same. They are a module of their own, for the sake of what kubectl, Flux and controller-runtime
// depend on.
//
// # Where to look
//
// Clients as their users have them. The first five are scripts in testdata, in the language of package script:
//
//	kubectl/            kubectl of the version that the module pins
//	kubectls/           kubectl of every minor version since 1.26
//	helm/               Helm
//	curl/               curl
//	commandline/        our own command line, beside kubectl
//	clientgo/           client-go: typed and dynamic clients, informers, leader election, events
//	controllerruntime/  a manager with two reconcilers
//	envtest/            controller-runtime's envtest, which starts our server
//	flux/               the library by which Flux applies
//	scheduler/          the real kube-scheduler, where it is built (make scheduler, make test-scheduler)
//
// What no client library would send, or show:
//
//	wire/               plain HTTP
//	admission/          webhooks that are called for real
//
// The real kube-apiserver and ours, asked the same; the commands are run by make:
//
//	cmd/conformance/    the scripts of package applytest (make conformance)
//	differential/       random histories, and cmd/differential/ (make differential)
//	material/           the definitions and objects of well-known projects, and cmd/material/ (make oracle-material)
//
// What they share:
//
//	target/             the server that is tried
//	script/             the language of scripts in which command lines are run
//	owners/             managedFields as lines
//	cmd/kubectl/        kubectl as a program of its own
//
// # How to run
//
// go test ./... tries all of it on our server, in the test's process. These environment variables change that:
//
//	CADASTRE_TARGET     kube-apiserver tries the real server instead, which proves what the tests expect; see package target
//	CADASTRE_KUBECTL    a kubectl to run, instead of the one that is compiled into the tests
//	UPDATE_SCRIPTS      1 writes into the scripts what was printed
//
// What kube-apiserver did is in testdata; with CADASTRE_TARGET=kube-apiserver, go test ./wire -record and
// go test ./admission -record write it anew.
package clients
