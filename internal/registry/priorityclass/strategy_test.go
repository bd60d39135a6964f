package priorityclass

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestSystemClasses: PriorityClasses of the system cannot be deleted, and are above those that users may create.
func TestSystemClasses(t *testing.T) {
	checkDelete := Strategy().CheckDelete
	for _, class := range SystemClasses {
		if err := checkDelete(class.Name); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this is a system priority class and cannot be deleted") {
			t.Errorf("%s: %v", class.Name, err)
		}
		if class.Value <= 1_000_000_000 || class.Description == "" {
			t.Errorf("%+v is not above what users may create", class)
		}
	}
	if err := checkDelete("mine"); err != nil {
		t.Error(err)
	}
}
