// Package equality compares Deployments after the server has set the defaults of both. Kubernetes' unit tests call the code of a policy
// alone, which sets no defaults.
package equality

import (
	"reflect"

	"github.com/cadastre/cadastre/test/upstream/policyserver"
)

// Semantic stands in for the variable of the same name of k8s.io/apimachinery/pkg/api/equality.
var Semantic comparison

type comparison struct{}

// DeepEqual reports whether two Deployments are equal with all defaults.
func (comparison) DeepEqual(a, b any) bool {
	left, right := withDefaults(a), withDefaults(b)
	return reflect.DeepEqual(left, right)
}

// withDefaults returns a Deployment in a form that shows all values, such as those of quantities.
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
