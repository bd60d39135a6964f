package builtin

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/cadastre/cadastre/document"
)

// checkResourceVersion requires a resource version in the form that can be compared: a decimal number without leading zeros.
func checkResourceVersion(c *checker, value, _ document.Value) {
	if _, err := resourceversion.CompareResourceVersion(value.Text(), value.Text()); err != nil {
		c.invalid(value.Text(), err.Error())
	}
}

// checkMigrationConditions requires that the conditions Succeeded and Failed of a StorageVersionMigration are not both true,
// and that a true condition remains true.
func checkMigrationConditions(c *checker, _, _ document.Value) {
	now, old := c.scopes[0].value.Lookup("status", "conditions"), c.scopes[0].old.Lookup("status", "conditions")
	succeeded, failed := isTrue(now, "Succeeded"), isTrue(now, "Failed")
	var details []string
	if succeeded && failed {
		details = append(details, "Both success and failed conditions cannot be true at the same time")
	}
	if isTrue(old, "Succeeded") && !succeeded {
		details = append(details, "Success condition cannot be set to false once it is true")
	}
	if isTrue(old, "Failed") && !failed {
		details = append(details, "Failed condition cannot be set to false once it is true")
	}
	if len(details) > 0 {
		c.invalidAll(conditionsValue(now), details)
	}
}

// isTrue reports whether the first condition of a type has the status True.
func isTrue(conditions document.Value, name string) bool {
	first := conditionsOfType(conditions, name)
	return first.Len() > 0 && first.At(0).Get("status").Text() == "True"
}

// conditionsValue returns a list of conditions for BadValue of a field.Error, with the fields in Kubernetes' order.
func conditionsValue(list document.Value) any {
	var conditions []metav1.Condition
	if isAbsentOrNull(list) || json.Unmarshal([]byte(list.JSON()), &conditions) != nil {
		return errorValue(list)
	}
	return conditions
}
