package serverbench

import (
	"strings"
	"testing"
)

const live = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],"name":"web"},"spec":{"replicas":3}}`

// TestAddManagers checks that addManagers adds the field managers to an object, and that check reports an object without them.
func TestAddManagers(t *testing.T) {
	for managers := 2; managers <= MaxManagers; managers++ {
		m := ManagedObjects{Managers: managers, Objects: 1}
		joined, err := m.addManagers([]byte(live))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.check(joined); err != nil {
			t.Error(err)
		}
		if err := m.check([]byte(live)); err == nil || !strings.Contains(err.Error(), "received 1:") {
			t.Errorf("check() of an object with 1 of %d managers = %v, want an error with \"received 1:\"", managers, err)
		}
	}
	if joined, err := (ManagedObjects{Managers: 1, Objects: 1}).addManagers([]byte(live)); joined != nil || err != nil {
		t.Errorf("addManagers() for one manager = %s, %v, want nil", joined, err)
	}
}

// TestManagedShare checks that ManagedShare counts exactly the bytes of managedFields.
func TestManagedShare(t *testing.T) {
	start, end := strings.Index(live, `"managedFields"`), strings.Index(live, `"name"`)
	share, err := ManagedShare(JSON, []byte(live))
	if want := end - start; err != nil || share != want {
		t.Errorf("ManagedShare() = %d, want %d: %v", share, want, err)
	}
	list := `{"apiVersion":"apps/v1","kind":"DeploymentList","items":[` + live + "," + live + "]}"
	if both, err := ManagedShare(JSON, []byte(list)); err != nil || both != 2*share {
		t.Errorf("ManagedShare() of a list of two = %d, want %d: %v", both, 2*share, err)
	}
	if _, err := ManagedShare(CBOR, []byte("no CBOR")); err == nil {
		t.Error("ManagedShare() of invalid CBOR succeeded, want an error")
	}
}
