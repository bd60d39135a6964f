package defaults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install" // each package registers its kinds in the scheme
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	kjson "sigs.k8s.io/json"
)

// Result is the result of kube-apiserver for a document: the decoded and defaulted object.
type Result struct {
	JSON    []byte
	Unknown []string // the errors about unknown fields
}

// Upstream decodes text with kube-apiserver's code, sets its defaults, and converts it to the internal version and
// back.
func Upstream(kind schema.GroupVersionKind, text []byte) (r Result, err error) {
	object, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return r, err
	}
	strict, err := kjson.UnmarshalStrict(text, object)
	if err != nil {
		return r, err
	}
	for _, e := range strict {
		r.Unknown = append(r.Unknown, e.Error())
	}
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	legacyscheme.Scheme.Default(object)
	if object, err = roundTrip(kind, object); err != nil {
		return r, err
	}
	r.JSON, err = marshal(object)
	if err != nil {
		return r, err
	}
	r.JSON, err = withKind(kind, r.JSON)
	return r, err
}

func roundTrip(kind schema.GroupVersionKind, object runtime.Object) (runtime.Object, error) {
	internal, err := legacyscheme.Scheme.ConvertToVersion(object, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, fmt.Errorf("conversion to the internal version: %w", err)
	}
	back, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := legacyscheme.Scheme.Convert(internal, back, nil); err != nil {
		return nil, fmt.Errorf("conversion from the internal version: %w", err)
	}
	back.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return back, nil
}

func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return bytes.TrimSpace(text), err
}

// withKind adds apiVersion and kind to an encoded object.
func withKind(kind schema.GroupVersionKind, text []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(text, []byte("{"))
	if !ok {
		return nil, errors.New("the encoded value is not a JSON object")
	}
	apiVersion, name := kind.ToAPIVersionAndKind()
	comma := ","
	if bytes.HasPrefix(rest, []byte("}")) {
		comma = ""
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q%s%s`, apiVersion, name, comma, rest), nil
}
