package protobuf

import (
	gobytes "bytes"
	"encoding/json"
	"flag"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
)

var objectsEach = flag.Int("objects", 40, "random objects of each kind")

// TestRandom compares the encoding of random objects of every kind with Kubernetes' own marshallers.
func TestRandom(t *testing.T) {
	own := protobuf.NewSerializer(scheme.Builtin(), scheme.Builtin())
	random := rand.New(rand.NewPCG(1, 2))
	types := scheme.Builtin().AllKnownTypes()
	for _, gvk := range slices.SortedFunc(maps.Keys(types), func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) }) {
		typ := types[gvk]
		if gvk.Version == runtime.APIVersionInternal || !hasMetadataField(typ) {
			continue
		}
		if gvk.Group == apiextensionsv1.GroupName {
			continue // CustomResourceDefinitions cannot be encoded; see MessageFor
		}
		for range *objectsEach {
			object := randomObject(random, gvk, typ)
			asJSON, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			// The object makes a round trip through JSON first, because JSON does not preserve some values, such as
			// empty lists.
			again := reflect.New(typ).Interface().(runtime.Object)
			if err := json.Unmarshal(asJSON, again); err != nil {
				t.Fatal(err)
			}
			var expected gobytes.Buffer
			if err := own.Encode(again, &expected); err != nil {
				t.Fatal(err)
			}
			v, err := document.ParseJSON(asJSON)
			if err != nil {
				t.Fatal(err)
			}
			if checkEnvelope(t, typ, v, expected.Bytes()); t.Failed() {
				t.Fatalf("the encoding of this %v differs from Kubernetes': %s", gvk, asJSON)
			}
		}
	}
}

func hasMetadataField(typ reflect.Type) bool {
	_, ok := typ.FieldByName("ObjectMeta")
	return ok
}

func randomObject(random *rand.Rand, gvk schema.GroupVersionKind, typ reflect.Type) runtime.Object {
	made := reflect.New(typ)
	fill(random, made.Elem(), 0)
	object := made.Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return object
}

var someTexts = []string{"", "a", "web", "ü–😀", "\x00\"\\<&", "a/b.c"}

// fill sets random fields of a value recursively.
func fill(random *rand.Rand, v reflect.Value, depth int) {
	if depth > 12 || depth > 1 && random.IntN(3) == 0 {
		return
	}
	switch special := v.Addr().Interface().(type) {
	case *metav1.Time:
		*special = metav1.NewTime(time.Unix(random.Int64N(4e9)-1e9, 0).UTC())
	case *metav1.MicroTime:
		*special = metav1.NewMicroTime(time.Unix(random.Int64N(4e9), random.Int64N(1e6)*1000).UTC())
	case *metav1.Duration:
		special.Duration = time.Duration(random.Int64N(1e15))
	case *metav1.FieldsV1:
		special.SetRawBytes([]byte(`{"f:a":{}}`))
	case *resource.Quantity:
		*special = *resource.NewMilliQuantity(random.Int64N(1e6), resource.DecimalSI)
	case *intstr.IntOrString:
		if *special = intstr.FromInt32(random.Int32()); random.IntN(2) == 0 {
			*special = intstr.FromString(someTexts[random.IntN(len(someTexts))])
		}
	case *runtime.RawExtension:
		special.Raw = []byte(`{"a":[1,null,"x"]}`)
	default:
		fillPlain(random, v, depth)
	}
}

func fillPlain(random *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(someTexts[random.IntN(len(someTexts))])
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int32:
		v.SetInt(int64(random.Int32()) - 1<<30)
	case reflect.Int64:
		v.SetInt(random.Int64() - 1<<62)
	case reflect.Uint8:
		v.SetUint(random.Uint64N(256))
	case reflect.Float64:
		v.SetFloat(random.Float64())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
		for i := range v.Len() {
			fill(random, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range random.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(random, key, 0)
			fill(random, value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Type != reflect.TypeFor[metav1.TypeMeta]() && v.Type().Field(i).IsExported() {
				fill(random, v.Field(i), depth+1)
			}
		}
	}
}
