// Package kubernetes and the packages below it replace the packages of k8s.io/kubernetes that its integration tests import: they start
// Cadastre instead of kube-apiserver. Each has only the functions that the tests call.
package kubernetes
