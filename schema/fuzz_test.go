package schema_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// The fuzz tests pass arbitrary input to each loader. A loader may reject the input, but the types that it returns must
// satisfy the invariants in doc.go.

func checkSchema(t *testing.T, s *schema.Schema, err error) {
	if (s == nil) != (err != nil) {
		t.Fatalf("loader returned schema %v and error %v, want exactly one of them", s, err)
	}
	if err != nil {
		return
	}
	for _, typ := range s.Types() {
		checkInvariants(t, typ)
	}
}

func seedJSON(f *testing.F, texts ...string) {
	for _, text := range texts {
		f.Add([]byte(parse(f, text).JSON()))
	}
}

func FuzzLoadOpenAPI(f *testing.F) {
	for _, test := range openAPIProperties {
		seedJSON(f, propertyDocument(test.property))
	}
	for _, test := range openAPIErrors {
		seedJSON(f, propertyDocument(test.property))
	}
	for seed := range uint64(20) {
		f.Add(randomDocument(rand.New(rand.NewPCG(seed, 3))))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := document.ParseJSON(text)
		if err != nil {
			return
		}
		s, err := schema.LoadOpenAPI(doc)
		checkSchema(t, s, err)
		if err != nil {
			return
		}
		// If kube-openapi accepts the document, too, the topologies must be equal.
		oracle, err := oracleOpenAPI(t, text)
		if err != nil {
			return
		}
		for _, difference := range differences(s, oracle) {
			if !strings.HasSuffix(difference, "the oracle has no type") { // kube-openapi drops aliases
				t.Error(difference)
			}
		}
	})
}

func FuzzLoadCRD(f *testing.F) {
	for _, test := range crdRoots {
		seedJSON(f, crdDocument(test.more, test.root))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := document.ParseJSON(text)
		if err != nil {
			return
		}
		versions, err := schema.LoadCRD(doc)
		if (versions == nil) != (err != nil) {
			t.Fatalf("LoadCRD returned versions %v and error %v, want exactly one of them", versions, err)
		}
		for _, typ := range versions {
			checkInvariants(t, typ)
		}
	})
}

func FuzzLoadTypes(f *testing.F) {
	for _, test := range typesFields {
		seedJSON(f, typesDocument(test.field))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := document.ParseJSON(text)
		if err != nil {
			return
		}
		s, err := schema.LoadTypes(doc)
		checkSchema(t, s, err)
	})
}

// FuzzFromGoType builds Go types from bytes: each byte is an instruction that wraps the current type.
func FuzzFromGoType(f *testing.F) {
	f.Add([]byte{0, 5, 6, 7, 8, 9})
	f.Add([]byte{3, 12, 13, 14, 4, 15})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 16 {
			return
		}
		typ, err := schema.FromGoType(goTypeOf(program))
		if (typ == nil) != (err != nil) {
			t.Fatalf("FromGoType returned type %v and error %v, want exactly one of them", typ, err)
		}
		if err == nil {
			checkInvariants(t, typ)
		}
	})
}

func goTypeOf(program []byte) reflect.Type {
	typ := reflect.TypeFor[string]()
	for _, instruction := range program {
		tag := reflect.StructTag(`json:"a,omitempty"`)
		switch instruction % 16 {
		case 0:
			typ = reflect.SliceOf(typ)
		case 1:
			typ = reflect.MapOf(reflect.TypeFor[string](), typ)
		case 2:
			typ = reflect.PointerTo(typ)
		case 3:
			typ = reflect.TypeFor[embedding]()
		case 4:
			typ = reflect.TypeFor[chan int]()
		case 5:
			typ = reflect.TypeFor[any]()
		case 6:
			typ = reflect.TypeFor[tree]()
		case 7:
			typ = reflect.ArrayOf(1, typ)
		case 8:
			tag = `json:",inline" patchStrategy:"merge"`
			fallthrough
		case 9:
			tag += ` patchMergeKey:"A"`
			fallthrough
		case 10:
			tag += ` patchStrategy:"merge"`
			fallthrough
		default:
			typ = reflect.StructOf([]reflect.StructField{
				{Name: "A", Type: typ, Tag: tag},
				{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:",string"`},
			})
		}
	}
	return typ
}
