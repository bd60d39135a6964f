package oracle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

// recorder notes what a client is told.
type recorder struct{ warnings []string }

// AddWarning is called by kube-apiserver.
func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

// warned is what a client is told about an object that is accepted, and which generation it has then.
type warned struct {
	warnings   []string
	generation int64
}

// askWarnings asks kube-apiserver what it says to the client about an object that it accepts; old is nil when it is
// created.
func askWarnings(object, old runtime.Object, gvk schema.GroupVersionKind) (said warned, ok bool) {
	s := strategies[gvk.GroupKind()]
	return warningsOf(object, func(object runtime.Object, r *recorder) error {
		m, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		ctx := warning.WithWarningRecorder(requestFor(s, gvk, m), r)
		if old != nil {
			return rest.BeforeUpdate(s, ctx, object, old.DeepCopyObject())
		}
		uid := m.GetUID()
		rest.FillObjectMetaSystemFields(m)
		m.SetUID(uid)
		return rest.BeforeCreate(s, ctx, object)
	})
}

// askStatusWarnings does the same for a write to the status.
func askStatusWarnings(object, old runtime.Object, gvk schema.GroupVersionKind) (said warned, ok bool) {
	s := statusStrategies[gvk.GroupKind()]
	return warningsOf(object, func(object runtime.Object, r *recorder) error {
		m, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		return rest.BeforeUpdate(s, warning.WithWarningRecorder(requestFor(s, gvk, m), r), object, old.DeepCopyObject())
	})
}

func warningsOf(object runtime.Object, ask func(runtime.Object, *recorder) error) (said warned, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	object = object.DeepCopyObject()
	r := &recorder{}
	if err := ask(object, r); err != nil {
		return said, false
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return said, false
	}
	return warned{r.warnings, m.GetGeneration()}, true
}
