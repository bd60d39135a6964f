package priorityclass

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestSystemClasses checks that system PriorityClasses cannot be deleted, and that their values are higher than those that users
// may set.
func TestSystemClasses(t *testing.T) {
	checkDelete := Strategy().CheckDelete
	for _, class := range SystemClasses {
		if err := checkDelete(class.Name); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "this is a system priority class and cannot be deleted") {
			t.Errorf("deleting the PriorityClass %s: got error %v, want a 403", class.Name, err)
		}
		if class.Value <= 1_000_000_000 || class.Description == "" {
			t.Errorf("system PriorityClass %+v: want a value above 1000000000 and a description", class)
		}
	}
	if err := checkDelete("mine"); err != nil {
		t.Errorf("deleting a PriorityClass of a user: got error %v, want none", err)
	}
}
