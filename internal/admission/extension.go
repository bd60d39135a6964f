package admission

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
)

// Extension is a plugin of the embedding program. Unlike the result of a built-in plugin, the object that an extension
// assigns is decoded like a request body, so that a faulty plugin cannot store an object that clients cannot read.
type Extension struct{ Plugin }

// identity lists the fields that a plugin must not change. The request was authorized for the object that these fields
// identify; the server sets metadata.resourceVersion and metadata.managedFields itself.
var identity = [][]string{
	{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"},
	{"metadata", "resourceVersion"}, {"metadata", "managedFields"},
}

// Admit implements Plugin. If the plugin assigned an invalid object, it returns an internal error that names the plugin. After an
// error, Attributes.Object is the object that the plugin received.
func (e Extension) Admit(ctx context.Context, a *Attributes) error {
	before := a.Object
	if err := e.Plugin.Admit(ctx, a); err != nil {
		a.Object = before
		return err
	}
	if a.Operation == Delete || document.Same(before, a.Object) {
		return nil
	}
	decoded, err := decodeAssigned(a, before)
	if err != nil {
		a.Object = before
		return apierrors.NewInternalError(fmt.Errorf("admission plugin %s: Attributes.Object: %w", e.Name(), err))
	}
	a.Object = decoded
	return nil
}

// decodeAssigned decodes a.Object, which a plugin has assigned. before is the object that the plugin received.
func decodeAssigned(a *Attributes, before document.Value) (document.Value, error) {
	if kind := a.Object.Kind(); kind != document.Map {
		return document.Value{}, fmt.Errorf("expected an object, received a %s", kind)
	}
	if metadata := a.Object.Get("metadata"); metadata.Kind() != document.Map {
		return document.Value{}, fmt.Errorf("metadata: expected an object, received a %s", metadata.Kind())
	}
	for _, path := range identity {
		if want, got := before.Lookup(path...), a.Object.Lookup(path...); !document.Equal(want, got) {
			return document.Value{}, fmt.Errorf("%s: expected %s, received %s; a plugin must not change it", strings.Join(path, "."), want, got)
		}
	}
	return RecordOf(a).Source.Decode(a.Object)
}
