package oracle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

// recorder is a warning.Recorder that collects the warnings.
type recorder struct{ warnings []string }

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

// warned contains kube-apiserver's warnings about an accepted object, and the generation of the object after the write.
type warned struct {
	warnings   []string
	generation int64
}

// upstreamWarnings returns kube-apiserver's warnings about an object. old is nil for a creation. ok is false if
// kube-apiserver rejects the object.
func upstreamWarnings(object, old runtime.Object, gvk schema.GroupVersionKind) (upstream warned, ok bool) {
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

// upstreamStatusWarnings is upstreamWarnings for a write to the status subresource.
func upstreamStatusWarnings(object, old runtime.Object, gvk schema.GroupVersionKind) (upstream warned, ok bool) {
	s := statusStrategies[gvk.GroupKind()]
	return warningsOf(object, func(object runtime.Object, r *recorder) error {
		m, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		return rest.BeforeUpdate(s, warning.WithWarningRecorder(requestFor(s, gvk, m), r), object, old.DeepCopyObject())
	})
}

func warningsOf(object runtime.Object, write func(runtime.Object, *recorder) error) (upstream warned, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	object = object.DeepCopyObject()
	r := &recorder{}
	if err := write(object, r); err != nil {
		return upstream, false
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return upstream, false
	}
	return warned{r.warnings, m.GetGeneration()}, true
}
