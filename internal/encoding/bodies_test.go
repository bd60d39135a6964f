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

// TestBombs: small bodies that would take hundreds of times their size in memory are refused before they do.
func TestBombs(t *testing.T) {
	const count = 1 << 20
	list := func(item byte) []byte {
		return append([]byte{0xa1, 0x41, 'x', 0x9a, 0, 0x20, 0, 0}, bytes.Repeat([]byte{item}, 2*count)...)
	}
	containers := bytes.Repeat([]byte{0x12, 0}, count)
	pod := append([]byte{0x12, 0x80, 0x80, 0x80, 0x01}, containers...)
	hidden := append([]byte{0xfb, 0x07, 0xfc, 0x07}, pod...) // after a group, which nobody reads
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
		"untold":     {envelope(t, "", "", pod), readProtobuf, "bytes of memory"},
		"in a list":  {envelope(t, "v1", "PodList", append([]byte{0x12, 0x85, 0x80, 0x80, 0x01}, pod...)), readProtobuf, "bytes of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _ = readProtobuf(envelope(t, "v1", "Pod", nil)) // the Go types are put together once
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := bomb.read(bomb.body)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), bomb.want) {
				t.Errorf("expected an error with %q, received %v", bomb.want, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(bomb.body)) {
				t.Errorf("%d bytes were refused, and took %d bytes of memory", len(bomb.body), took)
			}
		})
	}
}

// readProtobuf reads a pod, if the body does not say what it is.
func readProtobuf(body []byte) ([]byte, error) {
	text, err := Protobuf.DecodeBody(string(body), corev1.SchemeGroupVersion.WithKind("Pod"))
	return []byte(text), err
}

func readCBOR(body []byte) ([]byte, error) {
	text, err := CBOR.DecodeBody(string(body), schema.GroupVersionKind{})
	return []byte(text), err
}

// TestUntoldKind: what a body does not say about its kind is what was expected.
func TestUntoldKind(t *testing.T) {
	for _, told := range []struct{ apiVersion, kind, want string }{
		{"", "", `"apiVersion":"v1","kind":"Pod"`},
		{"v1", "", `"apiVersion":"v1","kind":"Pod"`},
		{"", "Pod", `"apiVersion":"v1","kind":"Pod"`},
		{"v1", "Secret", `"apiVersion":"v1","kind":"Secret"`},
	} {
		read, err := readProtobuf(envelope(t, told.apiVersion, told.kind, nil))
		if err != nil {
			t.Errorf("%+v: %v", told, err)
			continue
		}
		var is metav1.TypeMeta
		if err := json.Unmarshal(read, &is); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf(`"apiVersion":%q,"kind":%q`, is.APIVersion, is.Kind); got != told.want {
			t.Errorf("%+v is read as %s", told, got)
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

// TestLargeBodies: what somebody may have a use for is read, up to the limit.
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
		t.Error("protobuf:", err)
	}
	text, err := direct.Marshal(map[string]any{"data": strings.Repeat("x", 3<<20-20)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readCBOR(text); err != nil {
		t.Error("CBOR:", err)
	}
}

// Kubernetes: takes it, and shows U+FFFD where bytes are none of UTF-8. Texts of both kinds are meant: those that CBOR
// calls bytes, as Kubernetes writes them, and those that it calls text, which Kubernetes refuses as well; and names.
func TestDifferenceTextIsUTF8InCBOR(t *testing.T) {
	for body, path := range map[string]string{
		"\xa1\x44data\xa1\x41a\x42\xff\xfe": ".data.a",
		"\xa1\x44data\xa1\x41a\x62\xff\xfe": "",
		"\xa1\x44data\xa1\x42\xff\xfe\x41a": ".data",
	} {
		text, err := readCBOR([]byte(cbor.Prefix + body))
		if err == nil || !strings.Contains(err.Error(), "UTF-8") || !strings.Contains(err.Error(), path) {
			t.Errorf("%q is %s, error %v, expected that it is refused at %q", body, text, err, path)
		}
	}
	if text, err := readCBOR([]byte(cbor.Prefix + "\xa1\x44data\xa1\x41a\x42\xc3\xbc")); err != nil || string(text) != `{"data":{"a":"ü"}}` {
		t.Errorf("received %s: %v", text, err)
	}
}

// Kubernetes: takes it, keeps the bytes, and shows U+FFFD in JSON. Here nothing but UTF-8 is kept, so that it is
// refused rather than changed. What only looks like a replacement stays.
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
			t.Errorf("%s, error %v, expected that it is refused with %q", text, err, path)
		}
	}
	for _, kept := range []string{"\ufffd", `\ufffd`, `\\ufffd`, `\\\ufffd`, "ü", "\\"} {
		text, err := read(corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"a": kept}, BinaryData: map[string][]byte{"b": {0xff}}})
		var is corev1.ConfigMap
		if err := json.Unmarshal(text, &is); err != nil {
			t.Fatal(err)
		}
		if err != nil || is.Data["a"] != kept || is.BinaryData["b"][0] != 0xff {
			t.Errorf("%q: received %s: %v", kept, text, err)
		}
	}
}
