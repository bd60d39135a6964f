package server

import (
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
)

// TestDecodedBytes checks that decodedBytes is at least the memory of the text and of the document that are decoded from a body, for
// bodies with as many values per byte as each encoding allows.
func TestDecodedBytes(t *testing.T) {
	const values = 20_000
	ints := binary.BigEndian.AppendUint32([]byte("\xd9\xd9\xf7\xa1\x41a\x9a"), values) // a map with a list of integers
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Spec: corev1.PodSpec{Containers: make([]corev1.Container, values)}}
	containers, err := encoding.Protobuf.AppendTyped(nil, encoding.Format{Encoding: encoding.Protobuf}, &pod)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		encoding *encoding.Encoding
		body     string
	}{
		{"integers", encoding.JSON, `{"a":[0` + strings.Repeat(",0", values) + `]}`},
		{"empty lists", encoding.JSON, `{"a":[[]` + strings.Repeat(",[]", values) + `]}`},
		{"empty maps", encoding.JSON, `{"a":[{}` + strings.Repeat(",{}", values) + `]}`},
		{"maps", encoding.JSON, `{"a":[{}` + strings.Repeat(`,{"":0}`, values) + `]}`},
		{"a long string", encoding.JSON, `{"a":"` + strings.Repeat("x", 10*values) + `"}`},
		{"block list", encoding.YAML, "a:\n" + strings.Repeat("- b\n", values)},
		{"flow list", encoding.YAML, "a: [b" + strings.Repeat(",b", values) + "]"},
		{"flow maps", encoding.YAML, "a: [{}" + strings.Repeat(",{}", values) + "]"},
		{"integers", encoding.CBOR, string(ints) + strings.Repeat("\x00", values)},
		{"empty maps", encoding.CBOR, string(ints) + strings.Repeat("\xa0", values)},
		{"empty containers", encoding.Protobuf, string(containers)},
	} {
		var text string
		var doc document.Value
		used := retained(func() {
			if text, err = test.encoding.DecodeBody(test.body, schema.GroupVersionKind{}); err == nil {
				doc, err = registry.Body{Text: text, YAML: test.encoding.YAML}.Parse()
			}
		})
		if err != nil {
			t.Fatalf("%s, %s: DecodeBody() and Parse() = %v, want no error", test.encoding, test.name, err)
		}
		estimate := decodedBytes(test.encoding, test.body)
		t.Logf("%s, %s: a body of %d bytes uses %d bytes, the estimate is %d", test.encoding, test.name, len(test.body), used, estimate)
		if estimate < used {
			t.Errorf("%s, %s: decodedBytes() = %d, want at least the %d bytes that are used", test.encoding, test.name, estimate, used)
		}
		runtime.KeepAlive(text)
		runtime.KeepAlive(doc)
	}
}

// retained returns the number of bytes that are in use after do, and were not before.
func retained(do func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
