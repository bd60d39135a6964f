// Package persistentvolumeclaimresize implements the admission plugin PersistentVolumeClaimResize: a claim may request
// more storage only if its StorageClass allows volume expansion.
package persistentvolumeclaimresize

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// Plugin is the admission plugin PersistentVolumeClaimResize.
type Plugin struct{ admission.ValidatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "PersistentVolumeClaimResize" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Update && r.Is("", "persistentvolumeclaims") {
		return admission.Validating
	}
	return 0
}

var (
	storageClasses = schema.GroupResource{Group: "storage.k8s.io", Resource: "storageclasses"}
	//lint:ignore ST1005 the text of kube-apiserver
	errUnbound   = errors.New("Only bound persistent volume claims can be expanded")
	errFixedSize = errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
)

// Validate implements admission.Plugin.
func (Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	if requestedStorage(a.Object).Cmp(*requestedStorage(a.OldObject)) <= 0 {
		return nil
	}
	if a.OldObject.Lookup("status", "phase").Text() != "Bound" {
		return a.Forbidden(errUnbound)
	}
	if allowed, err := allowsExpansion(ctx, a); allowed || err != nil {
		return err
	}
	return a.Forbidden(errFixedSize)
}

// requestedStorage returns the amount of storage that a claim requests; 0 if it requests none.
func requestedStorage(claim document.Value) *resource.Quantity {
	q, err := builtin.ParseQuantity(claim.Lookup("spec", "resources", "requests", "storage").Text())
	if err != nil {
		return new(resource.Quantity) // no request; an invalid request was rejected when the object was decoded
	}
	return &q
}

// allowsExpansion reports whether the update keeps the claim's StorageClass and that StorageClass allows volume expansion.
func allowsExpansion(ctx context.Context, a *admission.Attributes) (bool, error) {
	name := className(a.Object)
	if name == "" || name != className(a.OldObject) {
		return false, nil
	}
	class, err := a.Reader.Get(ctx, storageClasses, "", name)
	return class.Document.Get("allowVolumeExpansion").Bool(), err
}

// className returns the name of a claim's StorageClass; "" if there is none. The deprecated annotation takes precedence over
// spec.storageClassName.
func className(claim document.Value) string {
	if name := claim.Lookup("metadata", "annotations", "volume.beta.kubernetes.io/storage-class"); !name.IsAbsent() {
		return name.Text()
	}
	return claim.Lookup("spec", "storageClassName").Text()
}
