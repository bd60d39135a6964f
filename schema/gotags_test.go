package schema_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/schema"
)

type (
	embedded struct {
		Inlined string `json:"inlined"`
		Hidden  string `json:"-"`
		Shadow  string `json:"shadow"`
	}
	Named  struct{ Inner int }
	Middle struct {
		Deep
		Depth2 string
		Twice  string `json:"twice"`
	}
	Deep  struct{ Shadow, Twice, Depth string }
	Other struct {
		Twice string `json:"twice"`
		Unset int    `json:"Depth2"`
	}
	embedding struct {
		embedded `json:",inline"`
		Named    `json:"named"`
		*Middle
		Other
		//lint:ignore U1000 used by reflection
		words
		Shadow int `json:"shadow"`
	}
	item struct {
		Name  string `json:"name"`
		Value *int64 `json:"value,omitempty"`
	}
	words []string
	tree  struct {
		Left  *tree           `json:"left"`
		Kids  []tree          `json:"kids" patchStrategy:"merge" patchMergeKey:"name"`
		Named map[string]tree `json:"named"`
	}
	level        int
	quotedText   string
	customJSON   struct{ Field int }
	pointerJSON  struct{ Field int }
	timeLike     struct{ Field int }
	anything     struct{ Field int }
	quantityLike struct{ Field int }
	objectLike   struct{ Field int }
	arrayLike    struct{ Field int }
	endless      *endless
	selfEmbedded struct {
		//lint:ignore U1000 used by reflection
		*selfEmbedded
		A string
	}
)

func (level) MarshalText() ([]byte, error)         { return []byte("high"), nil }
func (customJSON) MarshalJSON() ([]byte, error)    { return []byte("{}"), nil }
func (*pointerJSON) MarshalJSON() ([]byte, error)  { return []byte("{}"), nil }
func (timeLike) OpenAPISchemaType() []string       { return []string{"string"} }
func (timeLike) OpenAPISchemaFormat() string       { return "date-time" }
func (anything) OpenAPISchemaType() []string       { return nil }
func (quantityLike) OpenAPISchemaType() []string   { return []string{"string"} }
func (quantityLike) OpenAPIV3OneOfTypes() []string { return []string{"string", "number"} }
func (objectLike) OpenAPISchemaType() []string     { return []string{"object"} }
func (arrayLike) OpenAPISchemaType() []string      { return []string{"array"} }

func TestGoTypes(t *testing.T) {
	for _, test := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"scalars", reflect.TypeFor[struct {
			A int8
			B uint64
			C float32
			D bool
			E string
			F *int
			G *****string
			H quotedText
		}](), `{A: numeric=0, B: numeric=0, C: numeric=0, D: boolean=false, E: string="", F: numeric, G: string, H: string=""}`},
		{"json tags", reflect.TypeFor[struct {
			A string `json:"z"`
			B string `json:"y,omitempty"`
			C string `json:",omitempty"`
			D string `json:"-"`
			//lint:ignore SA5008 the field's name is a dash
			E string `json:"-,"`
			F int    `json:"f,string"`
			G *bool  `json:",string"`
			//lint:ignore SA5008 the option is ignored for lists
			H []int `json:",string"`
			i string
		}](), `{-: string="", C: string, G: string, H: atomic[numeric], f: string, y: string, z: string=""}`},
		{"embedding", reflect.TypeFor[embedding](),
			`{Depth: string="", Depth2: numeric=0, Shadow: string="", Twice: string="", inlined: string="", named: {Inner: numeric=0}={}, shadow: numeric=0}`},
		{"self-embedding", reflect.TypeFor[selfEmbedded](), `{A: string=""}`},
		{"maps", reflect.TypeFor[struct {
			A map[string]string
			B map[int]item
			C map[level]bool
		}](), `{A: {*: string}, B: {*: {name: string="", value: numeric}}, C: {*: boolean}}`},
		{"lists", reflect.TypeFor[struct {
			A []string
			B [2]int
			C []byte
			D [2]byte
			E *[]item
			F json.RawMessage
		}](), `{A: atomic[string], B: atomic[numeric], C: string, D: atomic[numeric], E: atomic[{name: string="", value: numeric}], F: opaque}`},
		{"patch tags", reflect.TypeFor[struct {
			A []string          `patchStrategy:"merge"`
			B []item            `patchStrategy:"merge,retainKeys" patchMergeKey:"name"`
			C []item            `patchStrategy:"replace"`
			D []item            `patchMergeKey:"name"`
			E item              `patchStrategy:"retainKeys"`
			F map[string]string `patchStrategy:"replace"`
			G *[]string         `patchStrategy:"merge"`
		}](), strings.ReplaceAll(`{A: set[string], B: keyed(name="")[ITEM], C: atomic[ITEM], D: atomic[ITEM], E: ITEM={}, F: {*: string}, G: set[string]}`,
			"ITEM", `{name: string="", value: numeric}`)},
		{"one list type with different tags", reflect.TypeFor[struct {
			A words `patchStrategy:"merge"`
			B words
		}](), "{A: set[string], B: atomic[string]}"},
		{"custom JSON", reflect.TypeFor[struct {
			A customJSON
			B pointerJSON
			C timeLike
			D *anything
			E quantityLike
			F objectLike
			G arrayLike
			H level
			I any
			J time.Time
			K json.Number
			L error
		}](), "{A: opaque, B: opaque, C: scalar, D: untyped, E: scalar, F: {*: untyped}, G: atomic[opaque], H: string, I: untyped, J: scalar, K: numeric, L: untyped}"},
		{"structs without fields", reflect.TypeFor[struct{ A *struct{} }](), "{A: {*: untyped}}"},
		{"alias of an embedded type", reflect.TypeFor[struct {
			A struct{ timeLike }
			B struct{ item } `json:",omitempty"`
			C struct{ *item }
		}](), `{A: scalar, B: {name: string="", value: numeric}={}, C: {name: string="", value: numeric}}`},
		{"recursion", reflect.TypeFor[tree](),
			"{kids: keyed(name)[^schema_test.tree], left: ^schema_test.tree, named: {*: ^schema_test.tree}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			typ, err := schema.FromGoType(test.typ)
			if err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, typ)
			if got := topology(typ); got != test.want {
				t.Errorf("topology = %s\nwant       %s", got, test.want)
			}
		})
	}
}

// TestGoTypesFieldsOfJSON checks that FromGoType declares exactly the fields that encoding/json encodes.
func TestGoTypesFieldsOfJSON(t *testing.T) {
	for _, v := range []any{embedding{Middle: &Middle{}}, embedded{}, tree{}, item{Value: new(int64)}} {
		typ, err := schema.FromGoType(reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, f := range typ.Map.Fields {
			got = append(got, f.Name)
		}
		for name := range parseJSON(t, text).Fields() {
			want = append(want, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("FromGoType(%T): fields %v, want %v", v, got, want)
		}
	}
}

func TestGoTypesName(t *testing.T) {
	typ, err := schema.FromGoType(reflect.TypeFor[*tree]())
	if err != nil {
		t.Fatal(err)
	}
	if typ.Name != "schema_test.tree" {
		t.Errorf("Name = %q, want schema_test.tree", typ.Name)
	}
}

func TestGoTypesErrors(t *testing.T) {
	deep := reflect.TypeFor[string]()
	for range 2000 {
		deep = reflect.SliceOf(deep)
	}
	for _, test := range []struct {
		name  string
		typ   reflect.Type
		parts []string
	}{
		{"nil", nil, []string{"reflect.TypeFor"}},
		{"channel", reflect.TypeFor[struct {
			A struct {
				B chan int `json:"b"`
			} `json:"a"`
		}](), []string{".a.b: expected a type that JSON can express", `"chan int"`, `json:"-"`}},
		{"map key", reflect.TypeFor[map[bool]string](), []string{"a map whose keys are strings", `"bool"`}},
		{"strategy", reflect.TypeFor[struct {
			A []string `patchStrategy:"mix"`
		}](), []string{".A: expected merge, replace or retainKeys", `"mix"`}},
		{"keyed scalars", reflect.TypeFor[struct {
			A []string `patchStrategy:"merge" patchMergeKey:"name"`
		}](), []string{".A: expected items that are maps"}},
		{"endless pointer", reflect.TypeFor[endless](), []string{"endless"}},
		{"endless nesting", deep, []string{"at most 1000 levels of nested types"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := schema.FromGoType(test.typ)
			wantError(t, err, test.parts...)
		})
	}
}
