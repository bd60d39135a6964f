// Package suites is a module of its own for test suites of others that use envtest. They are run where they are, by the name
// of their package, in a module that knows what they need beside the packages that they test:
//
//	KUBEBUILDER_ASSETS=$(cadastre envtest) go test sigs.k8s.io/controller-runtime/pkg/client
//
// `make test-envtest` does so.
package suites

import (
	_ "github.com/onsi/ginkgo/v2" // what the suites are written with
	_ "github.com/onsi/gomega"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
)
