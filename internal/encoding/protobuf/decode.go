package protobuf

import (
	gobytes "bytes"
	"encoding/json"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
)

// serializer is Kubernetes' protobuf serializer for the built-in kinds. Other kinds cannot be sent in protobuf.
var serializer = sync.OnceValue(func() *protobuf.Serializer { return protobuf.NewSerializer(scheme.Builtin(), scheme.Builtin()) })

// Decode returns the JSON text of a protobuf body. Parts of the type that are missing in the envelope are taken from
// defaults. A string that is not UTF-8 causes an error that names its path.
func Decode(body []byte, defaults schema.GroupVersionKind) ([]byte, error) {
	if err := checkMemory(body, defaults); err != nil {
		return nil, err
	}
	object, gvk, err := serializer().Decode(body, &defaults, nil)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(*gvk)
	text, err := json.Marshal(object)
	if err == nil && hasReplacement(text) {
		err = notUTF8(object)
	}
	return gobytes.TrimSpace(text), err
}

// hasReplacement reports whether json.Marshal has replaced invalid UTF-8 in a text. Only invalid bytes are encoded as the
// escape sequence \ufffd: the character U+FFFD itself is not escaped, and backslashes in strings are doubled.
func hasReplacement(text []byte) bool {
	for {
		_, after, found := gobytes.Cut(text, []byte(`\ufffd`))
		if !found {
			return false
		}
		before := text[:len(text)-len(after)-len(`\ufffd`)]
		if backslashes := len(before) - len(gobytes.TrimRight(before, `\`)); backslashes%2 == 0 {
			return true
		}
		text = after
	}
}

// notUTF8 returns the error for an object with a string that is not UTF-8. The error names the path of the string if the
// string also occurs in the unstructured form of the object.
func notUTF8(object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err == nil {
		_, err = document.FromGo(content)
	}
	if err == nil {
		err = errors.New("expected text in UTF-8, received bytes that are not UTF-8")
	}
	return err
}

// checkMemory returns an error for a body whose Go object would use too much memory. It ignores malformed envelopes, which
// the decoder reports.
func checkMemory(body []byte, defaults schema.GroupVersionKind) error {
	content, ok := gobytes.CutPrefix(body, []byte(envelopePrefix))
	envelope := runtime.Unknown{}
	if !ok || envelope.Unmarshal(content) != nil {
		return nil
	}
	t := Type{APIVersion: envelope.APIVersion, Kind: envelope.Kind}
	if t.Kind == "" {
		t.Kind = defaults.Kind
	}
	if t.APIVersion == "" {
		t.APIVersion = defaults.GroupVersion().String()
	}
	return checkMessageMemory(t, envelope.Raw)
}
