package serverbench

import (
	"strings"
	"testing"
)

const live = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],"name":"web"},"spec":{"replicas":3}}`

// TestJoin gives an object as many managers as there should be, and sees when a server did not take them.
func TestJoin(t *testing.T) {
	for managers := 2; managers <= MostManagers; managers++ {
		m := Managed{Managers: managers, Objects: 1}
		joined, err := m.join([]byte(live))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.check(joined); err != nil {
			t.Error(err)
		}
		if err := m.check([]byte(live)); err == nil || !strings.Contains(err.Error(), "has 1 managers") {
			t.Errorf("one manager of %d: %v", managers, err)
		}
	}
	if joined, err := (Managed{Managers: 1, Objects: 1}).join([]byte(live)); joined != nil || err != nil {
		t.Errorf("nobody joins, but received %s, %v", joined, err)
	}
}

// TestManagedShare counts the bytes of managedFields, and only them.
func TestManagedShare(t *testing.T) {
	start, end := strings.Index(live, `"managedFields"`), strings.Index(live, `"name"`)
	share, err := ManagedShare(JSON, []byte(live))
	if want := end - start; err != nil || share != want {
		t.Errorf("%d bytes, expected %d: %v", share, want, err)
	}
	list := `{"apiVersion":"apps/v1","kind":"DeploymentList","items":[` + live + "," + live + "]}"
	if both, err := ManagedShare(JSON, []byte(list)); err != nil || both != 2*share {
		t.Errorf("%d bytes in a list of two, expected %d: %v", both, 2*share, err)
	}
	if _, err := ManagedShare(CBOR, []byte("no CBOR")); err == nil {
		t.Error("what is no CBOR has a share")
	}
}
