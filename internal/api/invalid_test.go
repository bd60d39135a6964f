package api

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kubernetes' own says the same.
func TestInvalid(t *testing.T) {
	kind := schema.GroupKind{Group: "apps", Kind: "Deployment"}
	required := field.Required(field.NewPath("a"), "why")
	for _, errs := range []field.ErrorList{
		nil,
		{required},
		{required, required},
		{required, field.Duplicate(field.NewPath("b").Index(1), "x"), required, field.Invalid(nil, 7, "odd")},
	} {
		if got, want := Invalid(kind, "web", errs), error(apierrors.NewInvalid(kind, "web", errs)); !reflect.DeepEqual(got, want) {
			t.Errorf("received %#v, want %#v", got, want)
		}
	}
}

// What is said of many errors costs what they cost. The limit is far from both: Kubernetes' own takes minutes.
func TestInvalidOfMany(t *testing.T) {
	errs := make(field.ErrorList, 60_000)
	for i := range errs {
		errs[i] = field.Duplicate(field.NewPath("spec", "template", "spec", "containers").Index(i).Child("name"), "c")
	}
	begin := time.Now()
	err := Invalid(schema.GroupKind{Kind: "Pod"}, "web", errs)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%d errors took %v", len(errs), took)
	}
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || len(status.Status().Details.Causes) < 10_000 {
		t.Errorf("received %.100s, want a status with many causes", err)
	}
}

func TestDifferenceNotAllErrorsAreTold(t *testing.T) {
	list := strings.Repeat("x", maxCauseBytes/4)
	errs := make(field.ErrorList, 100)
	for i := range errs {
		errs[i] = field.Invalid(field.NewPath("a"), list, fmt.Sprintf("item %d is odd", i))
	}
	err := Invalid(schema.GroupKind{Kind: "Pod"}, "web", errs)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || len(status.Status().Details.Causes) != 4 {
		t.Fatalf("received %.100s, want a status with 4 causes", err)
	}
	if text := err.Error(); len(text) > 2*maxCauseBytes || !strings.HasSuffix(text, "item 3 is odd, and more]") {
		t.Errorf("received %d bytes that end with %q", len(text), text[len(text)-100:])
	}
}
