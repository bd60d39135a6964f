package registry

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
)

// TestMaxObjectSize checks that an object is rejected if it is too large including its defaults and managedFields, and that an
// object of the maximum size can be patched and deleted.
func TestMaxObjectSize(t *testing.T) {
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
	count := 0 // the loop increments it to the maximum number of containers that is accepted
	for step := 8192; step > 0; step /= 2 {
		r := request(endpoint, "default", "", text(count+step))
		r.DryRun = true
		_, err := o.Create(t.Context(), r)
		switch {
		case err == nil:
			count += step
		case !apierrors.IsRequestEntityTooLargeError(err):
			t.Fatalf("%d containers: Create() = %v, want a 413", count+step, err)
		}
	}
	created, err := o.Create(t.Context(), request(endpoint, "default", "", text(count)))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(created.Object.Text()); size > document.DefaultMaxBytes || size < document.DefaultMaxBytes-1000 {
		t.Errorf("size of the largest accepted object: got %d bytes, want at most %d, and at most 1000 fewer", size, document.DefaultMaxBytes)
	}
	deletion := &Deletion{Endpoint: endpoint, Namespace: "default", Name: "a"}
	if deleted, err := o.Delete(t.Context(), deletion); err != nil || !deleted.Pending { // the deletionTimestamp enlarges the object
		t.Fatalf("Delete() of an object with a finalizer: got pending %v, error %v, want pending and no error", deleted.Pending, err)
	}
	if _, err := o.Patch(t.Context(), request(endpoint, "default", "a", Body{Text: `{"metadata":{"finalizers":null}}`}), MergePatch); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Delete(t.Context(), deletion); !apierrors.IsNotFound(err) {
		t.Errorf("Delete() = %v, want a 404", err)
	}
}
