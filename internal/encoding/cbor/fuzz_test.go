package cbor

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/cadastre/cadastre/document"
)

// FuzzDecode decodes arbitrary request bodies: the result is an error or JSON, whose objects can be encoded as CBOR again.
func FuzzDecode(f *testing.F) {
	for _, value := range []any{map[string]any{}, []any{int64(1), -1, 1.5, nil, true, "b"}, map[string]any{"kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}} {
		body, err := direct.Marshal(value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, odd := range []string{"", "\xbf\x41a\x01\xff", "\x5f\x41a\xff", "\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\xf9\x7e\x00", "\xc2\x41\x01", "\xa2\x41a\x01\x41a\x02", "\xd9\xd9\xf7\xa0", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := Decode(body)
		if err != nil {
			return
		}
		v, err := document.ParseJSON(text)
		if err != nil {
			t.Fatalf("Decode(%q) = %s, want JSON: %v", body, text, err)
		}
		if v.Kind() == document.Map {
			_ = NewObject(nil, v) // must not panic
		}
	})
}
