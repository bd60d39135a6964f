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

// TestInvalid checks that Invalid returns the same Status as apierrors.NewInvalid.
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
			t.Errorf("Invalid() = %#v, want %#v", got, want)
		}
	}
}

// TestInvalidManyErrors checks that the time of Invalid is not quadratic in the number of errors. The limit of 10 seconds
// allows for slow machines; apierrors.NewInvalid takes minutes for the same errors.
func TestInvalidManyErrors(t *testing.T) {
	errs := make(field.ErrorList, 60_000)
	for i := range errs {
		errs[i] = field.Duplicate(field.NewPath("spec", "template", "spec", "containers").Index(i).Child("name"), "c")
	}
	begin := time.Now()
	err := Invalid(schema.GroupKind{Kind: "Pod"}, "web", errs)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("Invalid() of %d errors took %v, want at most 10s", len(errs), took)
	}
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) || len(status.Status().Details.Causes) < 10_000 {
		t.Errorf("Invalid() = %.100s, want a Status with at least 10000 causes", err)
	}
}

// TestDifferenceErrorsAreTruncated checks that Invalid omits causes after maxCauseBytes, and that the message then ends with
// "and more".
func TestDifferenceErrorsAreTruncated(t *testing.T) {
	list := strings.Repeat("x", maxCauseBytes/4)
	errs := make(field.ErrorList, 100)
	for i := range errs {
		errs[i] = field.Invalid(field.NewPath("a"), list, fmt.Sprintf("item %d is odd", i))
	}
	err := Invalid(schema.GroupKind{Kind: "Pod"}, "web", errs)
	var status apierrors.APIStatus
	if !errors.As(err, &status) || len(status.Status().Details.Causes) != 4 {
		t.Fatalf("Invalid() = %.100s, want a Status with 4 causes", err)
	}
	if text := err.Error(); len(text) > 2*maxCauseBytes || !strings.HasSuffix(text, "item 3 is odd, and more]") {
		t.Errorf("message of Invalid(): got %d bytes ending in %q, want at most %d bytes ending in \"and more]\"", len(text), text[len(text)-100:], 2*maxCauseBytes)
	}
}
