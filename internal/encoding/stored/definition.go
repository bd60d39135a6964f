package stored

import (
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// definitionScheme contains the Go types of CustomResourceDefinitions of all versions, and their conversions to and from the internal
// version.
var definitionScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
})

// currentDefinition returns a CustomResourceDefinition at its storage version. kube-apiserver stores CustomResourceDefinitions as
// v1beta1, which is not served, because its form is smaller if all versions have the same schema.
func currentDefinition(kind *api.Kind, doc document.Value) (document.Value, error) {
	if doc.Get("apiVersion").Text() == kind.StoredVersion() {
		return doc, nil
	}
	internal, err := runtime.Decode(serializer.NewCodecFactory(definitionScheme()).UniversalDecoder(), doc.AppendJSON(nil))
	if err != nil {
		return doc, fmt.Errorf("apiVersion: expected a version of %s, received %q: %w", kind, doc.Get("apiVersion").Text(), err)
	}
	converted, err := definitionScheme().ConvertToVersion(internal, apiextensionsv1.SchemeGroupVersion)
	if err != nil {
		return doc, err
	}
	text, err := json.Marshal(converted)
	if err != nil {
		return doc, err
	}
	return document.ParseJSONLimited(text, unlimited)
}
