package registry

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
)

// TestLargestObject: what the server makes of a body can be larger than the body. What would be larger than a
// body may be is refused, and what is as large as can be is patched and deleted like all else.
func TestLargestObject(t *testing.T) {
	o := open(t, Options{})
	endpoint := o.endpoint(t, "apps", "deployments")
	text := func(containers int) Body {
		var list []string
		for i := range containers {
			list = append(list, fmt.Sprintf(`{"name":"c%d","image":"i"}`, i))
		}
		return Body{Text: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","finalizers":["example.com/x"]},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[` + strings.Join(list, ",") + `]}}}}`}
	}
	most := 0 // containers that there is room for
	for step := 8192; step > 0; step /= 2 {
		r := request(endpoint, "default", "", text(most+step))
		r.DryRun = true
		_, err := o.Create(t.Context(), r)
		switch {
		case err == nil:
			most += step
		case !apierrors.IsRequestEntityTooLargeError(err):
			t.Fatalf("%d containers: received %v, want that it is too large", most+step, err)
		}
	}
	created, err := o.Create(t.Context(), request(endpoint, "default", "", text(most)))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(created.Object.Text()); size > document.DefaultMaxBytes || size < document.DefaultMaxBytes-1000 {
		t.Errorf("the largest has %d bytes", size)
	}
	deletion := &Deletion{Endpoint: endpoint, Namespace: "default", Name: "a"}
	if deleted, err := o.Delete(t.Context(), deletion); err != nil || !deleted.Pending { // which adds a field
		t.Fatalf("deleted: %v, %v", deleted.Pending, err)
	}
	if _, err := o.Patch(t.Context(), request(endpoint, "default", "a", Body{Text: `{"metadata":{"finalizers":null}}`}), MergePatch); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Delete(t.Context(), deletion); !apierrors.IsNotFound(err) {
		t.Errorf("received %v, want that it is gone", err)
	}
}
