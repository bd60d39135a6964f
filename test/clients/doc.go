// Package clients has only documentation: the folders below it test the server with real clients, and compare it with
// kube-apiserver. They are a separate module because of the dependencies of kubectl, Flux and controller-runtime.
//
// # Folders
//
// Clients. The first five are scripts in testdata, in the language of package script:
//
//	kubectl/            kubectl of the version that the module requires
//	kubectls/           kubectl of every minor version since 1.26
//	helm/               Helm
//	curl/               curl
//	commandline/        our own command line, next to kubectl
//	clientgo/           client-go: typed and dynamic clients, informers, leader election, events
//	controllerruntime/  a manager with two reconcilers
//	envtest/            controller-runtime's envtest, which starts our server
//	flux/               Flux' apply library
//	scheduler/          kube-scheduler, if it is built (make scheduler, make test-scheduler)
//
// Requests and responses that client libraries do not send or show:
//
//	wire/               plain HTTP
//	admission/          admission webhooks over the network
//
// Comparisons of kube-apiserver and Cadastre; the commands are run by make:
//
//	together/           kube-apiserver and Cadastre on one etcd
//	cmd/conformance/    the scripts of package applytest (make conformance)
//	differential/       random histories, and cmd/differential/ (make differential)
//	material/           CRDs and samples of well-known projects, and cmd/material/ (make oracle-material)
//
// Shared packages:
//
//	target/             the server under test
//	script/             the language of the scripts
//	owners/             managedFields as text
//	cmd/kubectl/        kubectl as a program
//
// # Usage
//
// go test ./... runs everything against Cadastre, in the process of the test. Environment variables:
//
//	CADASTRE_TARGET     kube-apiserver runs the tests against kube-apiserver, which proves their expectations; see package target
//	CADASTRE_KUBECTL    path of a kubectl to run instead of the one that is linked into the tests
//	UPDATE_SCRIPTS      1 updates the expected output in the scripts
//
// The responses of kube-apiserver are in testdata; with CADASTRE_TARGET=kube-apiserver, go test ./wire -record and
// go test ./admission -record write them.
package clients
