// Package suites is a separate module that runs test suites of other projects that use envtest. They are run by
// package path, in a module with their dependencies:
//
//	KUBEBUILDER_ASSETS=$(cadastre envtest) go test sigs.k8s.io/controller-runtime/pkg/client
//
// `make test-envtest` does so.
package suites

import (
	_ "github.com/onsi/ginkgo/v2" // the test framework of the suites
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
)
