package packed

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"k8s.io/apimachinery/pkg/runtime"
	kubecbor "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed/packedtest"
)

// TestCBORFixtures has Kubernetes read what we write of every fixture: the object must be the one that it reads
// of JSON.
func TestCBORFixtures(t *testing.T) {
	reader := kubecbor.NewSerializer(packedtest.Types(), packedtest.Types(), kubecbor.Strict(true))
	eachFixture(t, func(t *testing.T, of reflect.Type, asJSON, asProtobuf []byte) {
		v, err := document.ParseJSON(asJSON)
		if err != nil {
			t.Fatal(err)
		}
		m, err := MessageOf(of)
		if err != nil {
			t.Fatal(err)
		}
		o := NewCBORObject(m, v)
		written := o.Append([]byte(CBORPrefix), true, false)
		read, _, err := reader.Decode(written, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkEnvelope(t, of, documentOf(t, read), asProtobuf)
		without := withoutManagedFields(v)
		checkDocument(t, o.Append(nil, true, true), without)
		checkDocument(t, o.Append(nil, false, true), without.Without("apiVersion").Without("kind"))
		is := Type{"meta.k8s.io/v1", "PartialObjectMetadata"}
		checkDocument(t, o.AppendPartial(nil, is, true), document.NewMap(
			document.Field{Name: "apiVersion", Value: document.NewString(is.APIVersion)},
			document.Field{Name: "kind", Value: document.NewString(is.Kind)},
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

// checkDocument has CBOR read as if nothing were known about it.
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
		t.Errorf("received %s\nexpected %s", received.JSON(), expected.JSON())
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

// TestFloats writes floats as the library does that Kubernetes has.
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
			t.Errorf("%v is %x, expected %x", f, received, expected)
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

// TestCBORHugeNumbers: what JSON has and no float is as large as can be read, and so can what is around it.
func TestCBORHugeNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"1e400": math.MaxFloat64, "-1e400": -math.MaxFloat64, "1" + strings.Repeat("0", 400): math.MaxFloat64, "1e-400": 0,
	} {
		v, err := document.ParseJSON([]byte(`{"apiVersion":"apps/v1","kind":"ControllerRevision","data":{"x":` + text + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		o, err := CBOR(v)
		if err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if err := direct.Unmarshal(o.Append(nil, true, false), &read); err != nil {
			t.Errorf("%.10s: %v", text, err)
			continue
		}
		if got := read["data"].(map[string]any)["x"]; got != want {
			t.Errorf("%.10s: received %v, want %v", text, got, want)
		}
	}
}
