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

// serializer decodes the built-in kinds. Other kinds have no protobuf.
var serializer = sync.OnceValue(func() *protobuf.Serializer { return protobuf.NewSerializer(scheme.Builtin(), scheme.Builtin()) })

// Decode returns the JSON text of a body. The parts of its type that the envelope leaves empty are those of defaults. Text
// must be UTF-8: strings that are not are rejected, with their path.
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

// hasReplacement reports whether json.Marshal has replaced bytes that are not UTF-8. Only those are written as this
// escape sequence: the character U+FFFD itself is not escaped, and a backslash in a string is doubled.
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

// notUTF8 returns the error for an object with a string that is not UTF-8. It has the path of the string if the
// unstructured form of the object shows it.
func notUTF8(object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err == nil {
		_, err = document.FromGo(content)
	}
	if err == nil {
		err = errors.New("expected text in UTF-8, received other bytes")
	}
	return err
}

// checkMemory rejects a body whose Go object would take too much memory. It leaves a malformed envelope to the decoder.
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
