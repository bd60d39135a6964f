// Package equality compares Deployments after the server has set the defaults of both. Kubernetes' unit tests expect
// Deployments without defaults, because they evaluate a policy without a server.
package equality

import (
	"reflect"

	"github.com/cadastre/cadastre/test/upstream/policyserver"
)

// Semantic replaces the variable Semantic of k8s.io/apimachinery/pkg/api/equality.
var Semantic comparison

type comparison struct{}

// DeepEqual reports whether two Deployments are equal with all defaults.
func (comparison) DeepEqual(a, b any) bool {
	left, right := withDefaults(a), withDefaults(b)
	return reflect.DeepEqual(left, right)
}

// withDefaults returns a Deployment with defaults as JSON maps, lists and scalars.
func withDefaults(object any) any {
	d, err := policyserver.Deployment(object)
	if err != nil {
		panic(err)
	}
	if d, err = policyserver.Evaluate(policyserver.Case{Object: d}); err != nil {
		panic(err)
	}
	return policyserver.JSON(d)
}
