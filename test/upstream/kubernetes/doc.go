// Package kubernetes and the packages below it stand in for the packages of k8s.io/kubernetes that its integration tests import.
// They start Cadastre where the originals start kube-apiserver. Each has only the functions that the tests call.
package kubernetes
