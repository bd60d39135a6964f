package builtin

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestUnchangedTaintsAreNotValidated checks that the taints of a device are validated only if an update changes them.
func TestUnchangedTaintsAreNotValidated(t *testing.T) {
	slice := func(taints string) document.Value {
		v, err := document.ParseJSON(`{"metadata":{"name":"a"},"spec":{"driver":"d","allNodes":true,"pool":{"name":"p","resourceSliceCount":1},` +
			`"devices":[{"name":"a","taints":[` + taints + `]}]}}`)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	kind, _ := Builtin("io.k8s.api.resource.v1.ResourceSlice")
	const known, unknown, other = `{"key":"a","effect":"None"}`, `{"key":"a","effect":"Some"}`, `{"key":"b","effect":"Some"}`
	for _, test := range []struct{ now, old, want string }{
		{unknown, unknown, ""},
		{unknown, known, `"Some"`},
		{other, unknown, `"Some"`},
		{known, unknown, ""},
	} {
		errs := kind.Validate(slice(test.now), slice(test.old))
		if got := errs.ToAggregate(); (got == nil) != (test.want == "") || got != nil && !strings.Contains(got.Error(), test.want) {
			t.Errorf("Validate() of %s after %s = %v, want %q", test.now, test.old, got, test.want)
		}
	}
}
