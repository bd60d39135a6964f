package cli

import (
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
)

// TestPatchTo has objects become others, by the patch.
func TestPatchTo(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{`{"metadata":{"name":"a"},"data":{"x":"1"}}`, `{"metadata":{"name":"a"},"data":{"x":"1"}}`, `[]`},
		{`{"metadata":{"name":"a"},"data":{"x":"1"}}`, `{"metadata":{"name":"a"}}`, `[{"op":"remove","path":"/data"}]`},
		{`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"},"a/b~c":1}`, `[{"op":"add","path":"/a~1b~0c","value":1}]`},
		{`{"metadata":{"name":"a","labels":{"x":"1"}}}`, `{"metadata":{"annotations":{"y":"2"},"name":"a"}}`,
			`[{"op":"add","path":"/metadata/annotations","value":{"y":"2"}},{"op":"remove","path":"/metadata/labels"}]`},
	} {
		from, to := parseJSON(t, test.from), parseJSON(t, test.to)
		patch := patchTo(from, to)
		if patch.JSON() != test.want {
			t.Errorf("%s -> %s: received %s, want %s", test.from, test.to, patch.JSON(), test.want)
		}
		if got, err := strategic.ApplyJSONPatch(from, patch); err != nil || !document.Equal(got, to) {
			t.Errorf("%s -> %s: %s makes %s, %v", test.from, test.to, patch.JSON(), got, err)
		}
	}
}

func parseJSON(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
