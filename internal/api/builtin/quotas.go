package builtin

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// The resources in spec.hard of a ResourceQuota to which scopes can apply, in addition to pods.
var (
	// computeOfQuotas are the compute resources, to which scopes of pods can apply.
	computeOfQuotas = []string{"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
	// storageOfQuotas are the storage resources, to which the scope VolumeAttributesClass can apply.
	storageOfQuotas = []string{"persistentvolumeclaims", "requests.storage"}
)

// scopeApplies reports whether a scope of a ResourceQuota can be applied to a resource. As in kube-apiserver, it returns true
// for unknown scopes.
func scopeApplies(scope, resource string) bool {
	switch scope {
	case "Terminating", "NotTerminating", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity":
		return resource == "pods" || slices.Contains(computeOfQuotas, resource)
	case "BestEffort":
		return resource == "pods"
	case "VolumeAttributesClass":
		return slices.Contains(storageOfQuotas, resource)
	}
	return true
}

func isScope(text string) bool {
	switch text {
	case "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass":
		return true
	}
	return false
}

// maxScopeErrors is the number of errors after which no further scopes are checked, because there can be an error for each
// scope and resource.
const maxScopeErrors = 100

// countInapplicable returns the number of resources in spec.hard of a ResourceQuota to which a scope cannot be applied.
func countInapplicable(hard document.Value, scope string) (n int) {
	for name := range hard.Fields() {
		if isStandardQuotaResource(name) && !scopeApplies(scope, name) {
			n++
		}
	}
	return n
}

func isStandardQuotaResource(name string) bool {
	return slices.Contains(resourcesOfQuotas, name) || isHugePagesResource(name) || strings.HasPrefix(name, "requests.hugepages-")
}

// conflictingScopePairs are the pairs of scopes that exclude each other in a ResourceQuota.
var conflictingScopePairs = [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}}

func (c *checker) checkConflictingScopes(scopes []string, shownScopes document.Value) {
	for _, pair := range conflictingScopePairs {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			c.invalid(errorValue(shownScopes), "conflicting scopes")
		}
	}
}

func checkQuotaScopes(c *checker, scopes, _ document.Value) {
	hard := c.scopes[0].value.Lookup("spec", "hard")
	for _, scope := range scopes.Items() {
		if len(c.errs) > maxScopeErrors {
			return
		}
		if !isScope(scope.Text()) {
			c.invalid(errorValue(scopes), "unsupported scope")
		}
		for range countInapplicable(hard, scope.Text()) {
			c.invalid(errorValue(scopes), "unsupported scope applied to resource")
		}
	}
	c.checkConflictingScopes(stringItems(scopes), scopes)
}

// checkQuotaScopeSelector validates matchExpressions of a ResourceQuota's scopeSelector. Like kube-apiserver, it reports the
// errors at the list instead of its items.
func checkQuotaScopeSelector(c *checker, requirements, _ document.Value) {
	spec := c.scopes[0].value.Get("spec")
	for _, r := range requirements.Items() {
		if len(c.errs) > maxScopeErrors {
			return
		}
		scope := r.Get("scopeName").Text()
		if !isScope(scope) {
			c.invalid(scope, "unsupported scope", "scopeName")
		}
		for range countInapplicable(spec.Get("hard"), scope) {
			c.invalid(errorValue(spec.Get("scopeSelector")), "unsupported scope applied to resource")
		}
		c.checkScopeOperator(r, scope)
	}
	c.checkConflictingScopes(sortedFieldTexts(requirements, "scopeName"), spec.Get("scopes"))
}

func (c *checker) checkScopeOperator(r document.Value, scope string) {
	operator, values := r.Get("operator").Text(), r.Get("values")
	switch scope {
	case "BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity":
		if operator != "Exists" {
			c.invalid(operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity", "operator")
		}
	}
	switch operator {
	case "In", "NotIn":
		if values.Len() == 0 {
			c.required("must be at least one value when `operator` is 'In' or 'NotIn' for scope selector", "values")
		}
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			c.invalid(errorValue(values), "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector", "values")
		}
	default:
		c.invalid(operator, "not a valid selector operator", "operator")
	}
}
