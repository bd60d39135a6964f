package cli

import (
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/cadastretest"
)

// TestAtVersionOf checks that atVersionOf returns an error that names the object and the entry if the entry's version is
// not served.
func TestAtVersionOf(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 1)
	one := target{f.kind, "default", "c0"}
	unserved := apply.Entry{Manager: "old", Operation: apply.Apply, APIVersion: "v0"}
	want := "configmap/c0: old Apply owns fields at v0: the server does not serve the kind ConfigMap at v0; kubectl api-resources lists the kinds that it serves"
	if _, err := one.atVersionOf(t.Context(), f.cluster, unserved); err == nil || err.Error() != want {
		t.Errorf("atVersionOf(v0): error = %v, want %s", err, want)
	}
	served := unserved
	served.APIVersion = "v1"
	if at, err := one.atVersionOf(t.Context(), f.cluster, served); err != nil || at.String() != one.String() || at.namespace != "default" {
		t.Errorf("atVersionOf(v1) = %s, %v, want %s", at, err, one)
	}
}
