package encoding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/cadastre/cadastre/internal/encoding/cbor"
)

// TestDecodeLimitsMemory checks that a small body that would decode to hundreds of times its size is rejected before it is
// decoded.
func TestDecodeLimitsMemory(t *testing.T) {
	const count = 1 << 20
	list := func(item byte) []byte {
		return append([]byte{0xa1, 0x41, 'x', 0x9a, 0, 0x20, 0, 0}, bytes.Repeat([]byte{item}, 2*count)...)
	}
	containers := bytes.Repeat([]byte{0x12, 0}, count)
	pod := append([]byte{0x12, 0x80, 0x80, 0x80, 0x01}, containers...)
	hidden := append([]byte{0xfb, 0x07, 0xfc, 0x07}, pod...) // preceded by a protobuf group, which the decoder skips
	for name, bomb := range map[string]struct {
		body []byte
		read func([]byte) ([]byte, error)
		want string
	}{
		"maps":       {list(0xa0), readCBOR, "as JSON, more than the limit"},
		"lists":      {list(0x80), readCBOR, "as JSON, more than the limit"},
		"numbers":    {list(0x00), readCBOR, "as JSON, more than the limit"},
		"containers": {envelope(t, "v1", "Pod", pod), readProtobuf, "bytes of memory"},
		"hidden":     {envelope(t, "v1", "Pod", hidden), readProtobuf, "bytes of memory"},
		"no type":    {envelope(t, "", "", pod), readProtobuf, "bytes of memory"},
		"in a list":  {envelope(t, "v1", "PodList", append([]byte{0x12, 0x85, 0x80, 0x80, 0x01}, pod...)), readProtobuf, "bytes of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _ = readProtobuf(envelope(t, "v1", "Pod", nil)) // initializes the Go types, so that the measurement below does not include this
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := bomb.read(bomb.body)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), bomb.want) {
				t.Errorf("Decode() = %v, want an error with %q", err, bomb.want)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(bomb.body)) {
				t.Errorf("Decode() of a body of %d bytes allocated %d bytes, want at most %d", len(bomb.body), took, 4*len(bomb.body))
			}
		})
	}
}

// readProtobuf decodes a protobuf body. It decodes a body whose envelope contains no type as a Pod.
func readProtobuf(body []byte) ([]byte, error) {
	text, err := Protobuf.DecodeBody(string(body), corev1.SchemeGroupVersion.WithKind("Pod"))
	return []byte(text), err
}

func readCBOR(body []byte) ([]byte, error) {
	text, err := CBOR.DecodeBody(string(body), schema.GroupVersionKind{})
	return []byte(text), err
}

// TestDefaultKind checks that the parts of the type that are missing in a protobuf envelope are taken from the default type.
func TestDefaultKind(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, want string }{
		{"", "", `"apiVersion":"v1","kind":"Pod"`},
		{"v1", "", `"apiVersion":"v1","kind":"Pod"`},
		{"", "Pod", `"apiVersion":"v1","kind":"Pod"`},
		{"v1", "Secret", `"apiVersion":"v1","kind":"Secret"`},
	} {
		read, err := readProtobuf(envelope(t, test.apiVersion, test.kind, nil))
		if err != nil {
			t.Errorf("Decode() of %+v = %v, want no error", test, err)
			continue
		}
		var is metav1.TypeMeta
		if err := json.Unmarshal(read, &is); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf(`"apiVersion":%q,"kind":%q`, is.APIVersion, is.Kind); got != test.want {
			t.Errorf("%+v: type of the decoded object = %s, want %s", test, got, test.want)
		}
	}
}

func envelope(t *testing.T, apiVersion, kind string, object []byte) []byte {
	unknown := kuberuntime.Unknown{TypeMeta: kuberuntime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: object}
	text, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), text...)
}

// TestLargeBodies checks that bodies are accepted if their size does not exceed the limit.
func TestLargeBodies(t *testing.T) {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	for range 10_000 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: "app", Image: "nginx", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}})
	}
	object, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readProtobuf(envelope(t, "v1", "Pod", object)); err != nil {
		t.Errorf("Decode() of a large protobuf body = %v, want no error", err)
	}
	text, err := direct.Marshal(map[string]any{"data": strings.Repeat("x", 3<<20-20)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readCBOR(text); err != nil {
		t.Errorf("Decode() of a large CBOR body = %v, want no error", err)
	}
}

// TestDifferenceTextIsUTF8InCBOR checks that strings and field names in CBOR that are not UTF-8 are rejected. In byte
// strings, which Kubernetes' own encoder writes, Kubernetes accepts them and replaces invalid bytes with U+FFFD; in text
// strings Kubernetes rejects them, too.
func TestDifferenceTextIsUTF8InCBOR(t *testing.T) {
	for body, path := range map[string]string{
		"\xa1\x44data\xa1\x41a\x42\xff\xfe": ".data.a",
		"\xa1\x44data\xa1\x41a\x62\xff\xfe": "",
		"\xa1\x44data\xa1\x42\xff\xfe\x41a": ".data",
	} {
		text, err := readCBOR([]byte(cbor.Prefix + body))
		if err == nil || !strings.Contains(err.Error(), "UTF-8") || !strings.Contains(err.Error(), path) {
			t.Errorf("Decode(%q) = %s, %v, want an error at %q", body, text, err, path)
		}
	}
	if text, err := readCBOR([]byte(cbor.Prefix + "\xa1\x44data\xa1\x41a\x42\xc3\xbc")); err != nil || string(text) != `{"data":{"a":"ü"}}` {
		t.Errorf("Decode() of UTF-8 = %s, %v, want {\"data\":{\"a\":\"ü\"}}", text, err)
	}
}

// TestDifferenceTextIsUTF8InProtobuf checks that strings in protobuf that are not UTF-8 are rejected and not changed.
// Kubernetes stores the bytes, and shows U+FFFD in JSON. Strings that contain U+FFFD itself are accepted.
func TestDifferenceTextIsUTF8InProtobuf(t *testing.T) {
	read := func(object corev1.ConfigMap) ([]byte, error) {
		body, err := object.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return readProtobuf(envelope(t, "v1", "ConfigMap", body))
	}
	named := metav1.ObjectMeta{Name: "a"}
	for path, object := range map[string]corev1.ConfigMap{
		`.data.a: expected text in UTF-8, received "x\xff"`:          {ObjectMeta: named, Data: map[string]string{"a": "x\xff"}},
		".data.\uFFFD: expected a name in UTF-8, received \"\\xff\"": {ObjectMeta: named, Data: map[string]string{"\xff": ""}},
		".metadata.finalizers[0]: expected":                          {ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"\\\xff"}}},
		".metadata.managedFields[0].manager: expected":               {ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "\xc3"}}}},
	} {
		if text, err := read(object); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Decode() = %s, %v, want the error %q", text, err, path)
		}
	}
	for _, kept := range []string{"\ufffd", `\ufffd`, `\\ufffd`, `\\\ufffd`, "ü", "\\"} {
		text, err := read(corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"a": kept}, BinaryData: map[string][]byte{"b": {0xff}}})
		var is corev1.ConfigMap
		if err := json.Unmarshal(text, &is); err != nil {
			t.Fatal(err)
		}
		if err != nil || is.Data["a"] != kept || is.BinaryData["b"][0] != 0xff {
			t.Errorf("Decode() of %q = %s, %v, want the string unchanged", kept, text, err)
		}
	}
}
