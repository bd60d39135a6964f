package cbor

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"k8s.io/apimachinery/pkg/runtime"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// TestCBORFixtures encodes every fixture of k8s.io/api and decodes it with Kubernetes' serializer: the result must equal the
// object decoded from JSON.
func TestCBORFixtures(t *testing.T) {
	reader := kubecbor.NewSerializer(encodingtest.Types(), encodingtest.Types(), kubecbor.Strict(true))
	encodingtest.Each(t, func(t *testing.T, f encodingtest.Fixture) {
		if f.Type == nil {
			t.Skip("k8s.io/api no longer has this kind")
		}
		v, err := document.ParseJSON(f.AfterJSON)
		if err != nil {
			t.Fatal(err)
		}
		m, err := protobuf.MessageOf(f.Type)
		if err != nil {
			t.Fatal(err)
		}
		o := NewObject(m, v)
		written := o.Append([]byte(Prefix), true, false)
		read, _, err := reader.Decode(written, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if o := protobuf.NewObject(m, documentOf(t, read)); string(o.AppendWhole(nil, false)) != string(f.AfterProtobuf) {
			t.Errorf("AppendWhole() = %.200q\nwant %.200q", o.AppendWhole(nil, false), f.AfterProtobuf)
		}
		without := withoutManagedFields(v)
		checkDocument(t, o.Append(nil, true, true), without)
		checkDocument(t, o.Append(nil, false, true), without.Without("apiVersion").Without("kind"))
		typ := protobuf.Type{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
		checkDocument(t, o.AppendPartial(nil, typ, true), document.NewMap(
			document.Field{Name: "apiVersion", Value: document.NewString(typ.APIVersion)},
			document.Field{Name: "kind", Value: document.NewString(typ.Kind)},
		).With("metadata", orEmpty(without.Get("metadata"))))
	})
}

func orEmpty(v document.Value) document.Value {
	if v.IsAbsent() {
		return document.NewMap()
	}
	return v
}

func withoutManagedFields(v document.Value) document.Value {
	metadata := v.Get("metadata")
	if metadata.IsAbsent() {
		return v
	}
	return v.With("metadata", metadata.Without("managedFields"))
}

// checkDocument decodes CBOR without a Go type, and compares the result with a document.
func checkDocument(t *testing.T, written []byte, expected document.Value) {
	t.Helper()
	var read any
	if err := direct.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	received, err := document.FromGo(read)
	if err != nil {
		t.Fatal(err)
	}
	if !document.Equal(received, expected) {
		t.Errorf("decoded CBOR = %s\nwant %s", received.JSON(), expected.JSON())
	}
}

func documentOf(t *testing.T, o runtime.Object) document.Value {
	t.Helper()
	v, err := document.FromGo(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFloats compares encoded floats with those of the CBOR library that Kubernetes uses.
func TestFloats(t *testing.T) {
	mode, err := cbor.EncOptions{ShortestFloat: cbor.ShortestFloat16}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	check := func(f float64) {
		expected, err := mode.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if received := appendFloat(nil, f); string(received) != string(expected) {
			t.Errorf("appendFloat(%v) = %x, want %x", f, received, expected)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 1.5, 65504, 65505, 65536, 5.960464477539063e-8, 2.9e-8, 6.1035e-5, 0.1, math.MaxFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		check(f)
		check(-f)
	}
	for range 100_000 {
		check(math.Ldexp(float64(random.IntN(4096)), random.IntN(60)-40))
		if f := math.Float64frombits(random.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			check(f)
		}
	}
}

// TestCBORHugeNumbers checks that numbers beyond the range of float64 are encoded as the largest float64, so that Kubernetes
// can decode the object.
func TestCBORHugeNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"1e400": math.MaxFloat64, "-1e400": -math.MaxFloat64, "1" + strings.Repeat("0", 400): math.MaxFloat64, "1e-400": 0,
	} {
		v, err := document.ParseJSON([]byte(`{"apiVersion":"apps/v1","kind":"ControllerRevision","data":{"x":` + text + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		o, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if err := direct.Unmarshal(o.Append(nil, true, false), &read); err != nil {
			t.Errorf("%.10s: decoding the CBOR = %v, want no error", text, err)
			continue
		}
		if got := read["data"].(map[string]any)["x"]; got != want {
			t.Errorf("%.10s: decoded number = %v, want %v", text, got, want)
		}
	}
}

// TestMinJSONSize checks that minJSONSize returns the exact size if every number has one digit, and never more than the size
// of the JSON.
func TestMinJSONSize(t *testing.T) {
	for text, unknown := range map[string]int{
		`{}`: 0, `[]`: 0, `""`: 0, `7`: 0, `{"a":{}}`: 0, `[[],[[]],{}]`: 0, `{"a":1,"b":[1,2,"xyz"],"c":{"d":"e"}}`: 0,
		`[null,true]`: 6, `[123,1.5]`: 4,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		body, err := direct.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if size := minJSONSize(append([]byte("\xd9\xd9\xf7"), body...)); size != len(text)-unknown {
			t.Errorf("minJSONSize() of %s = %d, want %d", text, size, len(text)-unknown)
		}
	}
	for text, body := range map[string]string{
		`["xyz",1]`:      "\x9f\x5f\x41x\x42yz\xff\x01\xff",
		`{"a":{},"b":1}`: "\xbf\x41a\xbf\xff\x61b\x01\xff",
	} {
		if size := minJSONSize([]byte(body)); size > len(text) || size < len(text)-1 {
			t.Errorf("minJSONSize() of %s in items of indefinite length = %d, want %d or one less", text, size, len(text))
		}
	}
	for _, body := range []string{"", "\x5b", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "\x1c", "\xff", "\xbf", "\x9b\xff"} {
		minJSONSize([]byte(body)) // malformed CBOR must not cause a panic
	}
}
